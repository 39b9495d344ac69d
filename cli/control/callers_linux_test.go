package control

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/mob/quota"
)

// TestConnectionsOfUser checks that a user who keeps as many connections as they get leaves some for another user, and that the
// owner of the daemon is not limited.
func TestConnectionsOfUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may be several users")
	}
	ln, err := net.Listen("unix", "@"+rand.Text()) // which every user may open
	if err != nil {
		t.Fatal(err)
	}
	const size = 16
	l := &callers{ln, quota.NewShared[uint32](size)}
	var accepted []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			if _, err := c.Write([]byte{1}); err != nil {
				t.Error(err)
			}
			accepted = append(accepted, c)
		}
	}()
	// open returns the number of connections that stay open, of n that a user opens.
	open := func(uid, n int) (stay int) {
		conns := make(chan net.Conn)
		go func() {
			runtime.LockOSThread() // which ends with the goroutine
			defer close(conns)
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
				t.Error(errno)
				return
			}
			for range n {
				c, err := new(net.Dialer).DialContext(context.Background(), "unix", ln.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				conns <- c
			}
		}()
		for c := range conns {
			t.Cleanup(func() { c.Close() })
			if _, err := io.ReadFull(c, make([]byte, 1)); err == nil {
				stay++
			}
		}
		return stay
	}
	if n := open(60002, size); n != size/2 {
		t.Errorf("one user has %d of %d connections", n, size)
	}
	if n := open(60003, size); n != size/4 {
		t.Errorf("the next one has %d of %d connections", n, size)
	}
	if n := open(0, 2*size); n != 2*size {
		t.Errorf("the owner has %d of %d connections", n, 2*size)
	}
	ln.Close()
	<-done
	for _, c := range accepted {
		c.Close()
	}
	if n := l.conns.Used(); n != 0 {
		t.Errorf("%d connections are counted after their end", n)
	}
}
