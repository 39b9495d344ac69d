package transport

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// BenchmarkStream sends blocks over one libp2p stream, as nodes do that have no other path, at
// once and over a path of 50 ms.
func BenchmarkStream(b *testing.B) {
	b.Run("loopback", func(b *testing.B) { benchStream(b, 0) })
	b.Run("rtt=50ms", func(b *testing.B) { benchStream(b, 25*time.Millisecond) })
}

func benchStream(b *testing.B, delay time.Duration) {
	const block = 256<<10 + 13
	from, to := start(b), start(b)
	done := make(chan int64)
	to.SetStreamHandler("/bulk", func(s network.Stream) {
		n, _ := io.Copy(io.Discard, s)
		done <- n
	})
	at := to.addr()
	if delay > 0 {
		at = delayed(b, at, delay)
	}
	if err := from.Connect(within(b), peer.AddrInfo{ID: to.ID(), Addrs: []ma.Multiaddr{at}}); err != nil {
		b.Fatal(err)
	}
	s, err := from.NewStream(within(b), to.ID(), "/bulk")
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, block)
	b.SetBytes(block)
	b.ResetTimer()
	for range b.N {
		if _, err := s.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
	_ = s.CloseWrite()
	if n := <-done; n != int64(b.N)*block {
		b.Errorf("received %d bytes, want %d", n, b.N*block)
	}
}

// delayed returns an address that forwards to another, and takes that long in each direction.
func delayed(b *testing.B, to ma.Multiaddr, delay time.Duration) ma.Multiaddr {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	_, target, err := manet.DialArgs(to)
	if err != nil {
		b.Fatal(err)
	}
	type chunk struct {
		at time.Time
		b  []byte
	}
	pipe := func(dst, src net.Conn) {
		queue := make(chan chunk, 1<<16)
		go func() {
			defer close(queue)
			for {
				buf := make([]byte, 32<<10)
				n, err := src.Read(buf)
				if err != nil {
					return
				}
				queue <- chunk{time.Now().Add(delay), buf[:n]}
			}
		}()
		for c := range queue {
			time.Sleep(time.Until(c.at))
			if _, err := dst.Write(c.b); err != nil {
				break
			}
		}
		dst.Close()
		src.Close()
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				return
			}
			go pipe(out, in)
			go pipe(in, out)
		}
	}()
	addr, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		b.Fatal(err)
	}
	return addr
}
