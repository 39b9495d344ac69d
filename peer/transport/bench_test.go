package transport

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sys/unix"
)

// BenchmarkSocket sends blocks over one socket within this process, with each ALPN, and
// reports the CPU time of both ends.
func BenchmarkSocket(b *testing.B) {
	for _, protocol := range []string{alpnTLS, alpn} {
		b.Run(strings.ReplaceAll(protocol, "/", "-"), func(b *testing.B) { benchSocket(b, protocol) })
	}
}

func benchSocket(b *testing.B, protocol string) {
	const block = 256<<10 + 13
	from, to := start(b), start(b)
	from.endpoint.protocols = []string{protocol}
	done := make(chan int)
	to.endpoint.Handle(anyone, func(_ peer.ID, c *Conn) {
		buf, n := make([]byte, block), 0
		for {
			k, err := io.ReadFull(c, buf[:13])
			if err == nil {
				n += k
				k, err = io.ReadFull(c, buf[13:])
			}
			n += k
			if err != nil || n == b.N*block {
				done <- n
				return
			}
		}
	})
	c, err := from.endpoint.Dial(within(b), to.ID(), to.addr())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Reset()
	buf := make([]byte, block)
	b.SetBytes(block)
	b.ReportAllocs()
	b.ResetTimer()
	used := cpuSeconds(b)
	for range b.N {
		if _, err := c.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
	if n := <-done; n != b.N*block {
		b.Errorf("received %d bytes, want %d", n, b.N*block)
	}
	b.ReportMetric((cpuSeconds(b)-used)/(float64(b.N)*block/1e9), "cpu-s/GB")
}

func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
