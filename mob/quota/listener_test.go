package quota

import (
	"io"
	"net"
	"net/netip"
	"testing"
)

// TestLimit checks that one address has at most half of the connections, and that those which are closed count no more.
func TestLimit(t *testing.T) {
	const size = 8
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	ln := Limit(inner, NewShared[netip.Addr](size))
	accepted := make(chan net.Conn, 2*size)
	go func() {
		for c, err := ln.Accept(); err == nil; c, err = ln.Accept() {
			accepted <- c
			_, _ = c.Write([]byte{1})
		}
	}()
	for range 2 {
		open := 0
		for range size {
			c, err := net.Dial("tcp", inner.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.ReadFull(c, make([]byte, 1)); err == nil {
				open++
			}
		}
		if open != size/2 {
			t.Errorf("%d of %d connections are open", open, size)
		}
		for range open {
			c := <-accepted
			c.Close()
			c.Close()
		}
	}
}
