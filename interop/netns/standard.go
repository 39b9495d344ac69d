package netns

import "time"

// MayhemPeriod is the period of scenario mayhem.
const MayhemPeriod = 2 * time.Second

// Fast is the links of the standard grid of four clusters, with 12 MB/s in and out of each.
func Fast() Links {
	return Links{}.
		With("A", "B", 3*MBps).With("A", "C", 3*MBps).With("A", "D", 6*MBps).
		With("B", "C", 6*MBps).With("B", "D", 3*MBps).
		With("C", "D", 3*MBps)
}

// Slow is Fast with 0.8 MB/s on its two best links, A-D and B-C.
func Slow() Links {
	return Fast().With("A", "D", 0.8*MBps).With("B", "C", 0.8*MBps)
}
