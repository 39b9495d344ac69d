package transport

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	mrand "math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/sys/unix"
)

// result is what a Read returned.
type result struct {
	n   int
	err error
}

// startRecord sends the first bytes of a record, and returns once the reader sleeps
// until the rest is there.
func startRecord(t *testing.T, first int) (from *net.TCPConn, to *recordReader, reads <-chan result, rest []byte) {
	t.Helper()
	from, socket := tcpPair(t)
	to = newRecordReader(socket, socket)
	if to.socket == nil {
		t.Fatal("SO_RCVLOWAT is not used")
	}
	whole := record(maxRecord)
	if _, err := from.Write(whole[:first]); err != nil {
		t.Fatal(err)
	}
	all := make(chan result)
	go func() {
		defer close(all)
		buf := make([]byte, 1<<20)
		for {
			n, err := to.Read(buf)
			all <- result{n, err}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = socket.Close()
		for range all {
		}
	})
	for n := 0; n < first; {
		g := <-all
		if g.err != nil {
			t.Fatal(g.err)
		}
		n += g.n
	}
	deadline := time.Now().Add(waitTimeout)
	for ; lowWaterMark(t, socket) != len(whole)-first; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the low-water mark is %d, want %d", lowWaterMark(t, socket), len(whole)-first)
		}
	}
	return from, to, all, whole[first:]
}

func lowWaterMark(t *testing.T, c *net.TCPConn) (mark int) {
	t.Helper()
	if err := rawConn(c).Control(func(fd uintptr) {
		var err error
		if mark, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return mark
}

func TestReaderWakesOncePerRecord(t *testing.T) {
	from, _, reads, rest := startRecord(t, 1400)
	n := len(rest)
	for ; len(rest) > 0; rest = rest[min(1000, len(rest)):] {
		if _, err := from.Write(rest[:min(1000, len(rest))]); err != nil {
			t.Fatal(err)
		}
	}
	if g := <-reads; g.n != n || g.err != nil {
		t.Errorf("read %d bytes, %v; want the whole record, %d", g.n, g.err, n)
	}
	// No record has started, so the first byte of the next one wakes the reader.
	if _, err := from.Write([]byte{23}); err != nil {
		t.Fatal(err)
	}
	if g := <-reads; g.n != 1 || g.err != nil {
		t.Errorf("read %d bytes of the next record, %v; want 1", g.n, g.err)
	}
}

func TestEndOfConnectionWakesReader(t *testing.T) {
	type end func(from *net.TCPConn, to *recordReader) error
	reset := func(from *net.TCPConn, _ *recordReader) error { return errors.Join(from.SetLinger(0), from.Close()) }
	timeout := func(_ *net.TCPConn, to *recordReader) error { return to.SetReadDeadline(time.Now()) }
	for name, c := range map[string]struct {
		end  end
		want error
	}{
		"half close":  {func(from *net.TCPConn, _ *recordReader) error { return from.CloseWrite() }, io.EOF},
		"close":       {func(from *net.TCPConn, _ *recordReader) error { return from.Close() }, io.EOF},
		"reset":       {reset, unix.ECONNRESET},
		"deadline":    {timeout, os.ErrDeadlineExceeded},
		"local close": {func(_ *net.TCPConn, to *recordReader) error { return to.Close() }, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, reads, rest := startRecord(t, 1400)
			if _, err := from.Write(rest[:3000]); err != nil {
				t.Fatal(err)
			}
			if err := c.end(from, to); err != nil {
				t.Fatal(err)
			}
			g := <-reads
			if g.err == nil && g.n == 3000 { // what is there is read first
				g = <-reads
			}
			if !errors.Is(g.err, c.want) {
				t.Errorf("read %d bytes, %v; want %v", g.n, g.err, c.want)
			}
		})
	}
}

// TestFragmentedBlocks sends blocks through a proxy that splits them at random.
func TestFragmentedBlocks(t *testing.T) {
	from, to := start(t), start(t)
	sent := make([]byte, 4<<20)
	_, _ = rand.Read(sent)
	sizes := blockSizes(len(sent))
	received := make(chan []byte, 1)
	to.endpoint.Handle(anyone, func(_ peer.ID, c *Conn) {
		_ = c.SetReadDeadline(time.Now().Add(waitTimeout))
		var all []byte
		in := &Reader{Reader: c}
		for _, n := range sizes {
			head := make([]byte, 13)
			if _, err := io.ReadFull(in, head[:min(13, n)]); err != nil {
				t.Errorf("head: %v", err)
				break
			}
			body := make([]byte, max(n-13, 0))
			if err := in.Fill(body); err != nil {
				t.Errorf("block of %d bytes: %v", n, err)
				break
			}
			all = append(append(all, head[:min(13, n)]...), body...)
		}
		received <- all
	})
	c, err := from.endpoint.Dial(within(t), to.ID(), fragmentingProxy(t, to.addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Reset()
	at := 0
	for _, n := range sizes {
		if _, err := c.Write(sent[at : at+n]); err != nil {
			t.Fatal(err)
		}
		at += n
	}
	if !bytes.Equal(<-received, sent) {
		t.Error("the received bytes differ")
	}
}

// blockSizes returns random sizes of blocks that add up to total bytes.
func blockSizes(total int) (sizes []int) {
	rng := mrand.New(mrand.NewPCG(1, 2))
	for total > 0 {
		n := 1 + rng.IntN(1<<rng.IntN(19))
		n = min(n, total)
		sizes = append(sizes, n)
		total -= n
	}
	return sizes
}

// fragmentingProxy returns the address of a proxy that forwards bytes in pieces of
// random length.
func fragmentingProxy(t *testing.T, to ma.Multiaddr) ma.Multiaddr {
	t.Helper()
	l, err := manet.Listen(ma.StringCast("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		in, err := l.Accept()
		if err != nil {
			return
		}
		defer in.Close()
		out, err := manet.Dial(to)
		if err != nil {
			return
		}
		defer out.Close()
		go func() { _, _ = io.Copy(in, out) }()
		rng := mrand.New(mrand.NewPCG(3, 4))
		buf := make([]byte, 3000)
		for {
			n, err := in.Read(buf[:1+rng.IntN(len(buf))])
			if _, failed := out.Write(buf[:n]); err != nil || failed != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Multiaddr()
}
