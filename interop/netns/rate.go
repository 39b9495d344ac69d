package netns

import (
	"fmt"
	"math"
	"time"

	"github.com/mobgrid/mob/peer/limit"
)

// Rate is a rate in bytes per second. Zero means no limit where the documentation of a type specifies it, and no link in [Links].
type Rate float64

// Units are decimal, as for links: 1 MBps is 1e6 bytes per second.
const (
	KBps Rate = 1e3
	MBps Rate = 1e6
)

// TCPShare is the share of a link's rate that TCP payload can have: full segments of 1448 bytes
// (with timestamps) in Ethernet frames of 1514. Bounds in this package count bytes of the link;
// multiply by TCPShare for the bytes of a TCP without loss.
const TCPShare = 1448.0 / 1514

// String formats the rate in MB/s.
func (r Rate) String() string {
	return fmt.Sprintf("%.4g MB/s", float64(r/MBps))
}

// Time is the time for size bytes at this rate: Forever at rate zero, zero at infinite rate.
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

// in is the number of bytes in d at this rate.
func (r Rate) in(d time.Duration) float64 {
	return float64(r) * d.Seconds()
}

// checkRate returns an error for a rate that the shaper cannot keep: below a byte per second its
// tables overflow, above 100 GB/s it would limit nothing.
func checkRate(r Rate) error {
	if r >= 1*KBps && r <= 1e5*MBps {
		return nil
	}
	return fmt.Errorf("rate of %g bytes/s is not between 1 KB/s and 100 GB/s", float64(r))
}

// ParseRate parses a rate as [limit.ParseRate] does, such as 12.5MB or 100Mbit. It fails for a rate that no shaper can keep.
func ParseRate(s string) (Rate, error) {
	n, err := limit.ParseRate(s)
	if err != nil {
		return 0, err
	}
	return Rate(n), checkRate(Rate(n))
}
