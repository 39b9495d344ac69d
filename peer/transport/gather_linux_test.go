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

// sockets are two ends of a TCP connection.
func sockets(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	to, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = from.Close(), to.Close() })
	return from.(*net.TCPConn), to.(*net.TCPConn)
}

// got is what a Read returned.
type got struct {
	n   int
	err error
}

// asleep writes the first bytes of a record, and returns once the reader waits for all
// the rest of it.
func asleep(t *testing.T, first int) (from *net.TCPConn, to *gatherer, reads <-chan got, rest []byte) {
	t.Helper()
	from, socket := sockets(t)
	to = newGatherer(socket, socket)
	if to.low == nil {
		t.Fatal("reading is plain")
	}
	whole := record(maxRecord)
	if _, err := from.Write(whole[:first]); err != nil {
		t.Fatal(err)
	}
	all := make(chan got)
	go func() {
		defer close(all)
		buf := make([]byte, 1<<20)
		for {
			n, err := to.Read(buf)
			all <- got{n, err}
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
	for deadline := time.Now().Add(10 * time.Second); lowWaterMark(t, socket) != len(whole)-first; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the reader waits for %d bytes, and %d are missing", lowWaterMark(t, socket), len(whole)-first)
		}
	}
	return from, to, all, whole[first:]
}

func lowWaterMark(t *testing.T, c *net.TCPConn) (mark int) {
	t.Helper()
	if err := kernel(c).Control(func(fd uintptr) {
		var err error
		if mark, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return mark
}

func TestReaderSleepsUntilTheRecordIsThere(t *testing.T) {
	from, _, reads, rest := asleep(t, 1400)
	n := len(rest)
	for ; len(rest) > 0; rest = rest[min(1000, len(rest)):] {
		if _, err := from.Write(rest[:min(1000, len(rest))]); err != nil {
			t.Fatal(err)
		}
	}
	if g := <-reads; g.n != n || g.err != nil {
		t.Errorf("it was woken with %d bytes of %d, %v", g.n, n, g.err)
	}
	// The next record has not begun: what comes of it is heard of.
	if _, err := from.Write([]byte{23}); err != nil {
		t.Fatal(err)
	}
	if g := <-reads; g.n != 1 || g.err != nil {
		t.Errorf("of the next record %d bytes came, want 1, %v", g.n, g.err)
	}
}

func TestSleepEndsWithTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(from *net.TCPConn, to *gatherer) error
		want error
	}{
		"the peer has no more":   {func(from *net.TCPConn, _ *gatherer) error { return from.CloseWrite() }, io.EOF},
		"the peer closes":        {func(from *net.TCPConn, _ *gatherer) error { return from.Close() }, io.EOF},
		"the peer resets":        {func(from *net.TCPConn, _ *gatherer) error { return errors.Join(from.SetLinger(0), from.Close()) }, unix.ECONNRESET},
		"the time is over":       {func(_ *net.TCPConn, to *gatherer) error { return to.SetReadDeadline(time.Now()) }, os.ErrDeadlineExceeded},
		"the reader's side ends": {func(_ *net.TCPConn, to *gatherer) error { return to.Close() }, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, reads, rest := asleep(t, 1400)
			if _, err := from.Write(rest[:3000]); err != nil {
				t.Fatal(err)
			}
			if err := c.end(from, to); err != nil {
				t.Fatal(err)
			}
			g := <-reads
			if g.err == nil && g.n == 3000 { // what has come is read first
				g = <-reads
			}
			if !errors.Is(g.err, c.want) {
				t.Errorf("reading ended with %d bytes and %v, want %v", g.n, g.err, c.want)
			}
		})
	}
}

// TestBlocksInParts has blocks go through a wire that cuts them anywhere.
func TestBlocksInParts(t *testing.T) {
	from, to := start(t), start(t)
	said := make([]byte, 4<<20)
	_, _ = rand.Read(said)
	sizes := blockSizes(len(said))
	heard := make(chan []byte, 1)
	to.end.Handle(anyone, func(_ peer.ID, c *Conn) {
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
		heard <- all
	})
	c, err := from.end.Dial(within(t, 10*time.Second), to.ID(), cutting(t, to.at()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Reset()
	at := 0
	for _, n := range sizes {
		if _, err := c.Write(said[at : at+n]); err != nil {
			t.Fatal(err)
		}
		at += n
	}
	if !bytes.Equal(<-heard, said) {
		t.Error("something else came")
	}
}

// blockSizes are sizes of blocks that are so many bytes together.
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

// cutting is the address of a wire to another one, which passes bytes on in parts of
// random length.
func cutting(t *testing.T, to ma.Multiaddr) ma.Multiaddr {
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
