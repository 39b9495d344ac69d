package netns

import (
	"fmt"
	"math"
	"time"
)

// Rate is a speed in bytes per second. Zero means not limited where a type says so, and no link in [Links].
type Rate float64

// Decimal units, as for links: 1 MBps is 1e6 bytes per second.
const (
	KBps Rate = 1e3
	MBps Rate = 1e6
)

// TCPShare is the part of a link's rate that is left for TCP payload: full segments of 1448 bytes (time stamps on) in Ethernet
// frames of 1514. Bounds in this package are in link bytes; multiply by TCPShare for what a lossless TCP could reach.
const TCPShare = 1448.0 / 1514

// String gives the rate in MB/s.
func (r Rate) String() string {
	return fmt.Sprintf("%.4g MB/s", float64(r/MBps))
}

// Time is how long size bytes take at this rate: Forever at rate zero, nothing at infinite rate.
func (r Rate) Time(size float64) time.Duration {
	if size <= 0 {
		return 0
	}
	ns := size / float64(r) * float64(time.Second)
	if math.IsNaN(ns) || ns >= float64(Forever) {
		return Forever
	}
	return time.Duration(ns)
}

// in is how many bytes pass in d.
func (r Rate) in(d time.Duration) float64 {
	return float64(r) * d.Seconds()
}

// checkRate says whether the shaper can keep a rate: below a byte a second its tables overflow, above 100 GB/s nothing would be
// limited.
func checkRate(r Rate) error {
	if r >= 1*KBps && r <= 1e5*MBps {
		return nil
	}
	return fmt.Errorf("rate of %g bytes/s is not between 1 KB/s and 100 GB/s", float64(r))
}
