package transport

import (
	"testing"

	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/sys/unix"
)

// A socket takes a congestion control that every kernel has and allows, and keeps it when it is to
// have one that none has.
func TestSetCongestion(t *testing.T) {
	c, _ := tcpPair(t)
	raw, err := manet.WrapNetConn(c)
	if err != nil {
		t.Fatal(err)
	}
	socket := &Conn{raw: raw}
	if err := socket.SetCongestion("reno"); err != nil {
		t.Fatal(err)
	}
	if err := socket.SetCongestion("nonsense"); err == nil {
		t.Error("the kernel has nonsense")
	}
	var got string
	err = rawConn(c).Control(func(fd uintptr) { got, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION) })
	if err != nil || got != "reno" {
		t.Errorf("the socket has %q, want reno (%v)", got, err)
	}
	if p := socket.Path(); p.MinRTT <= 0 || p.RTT < p.MinRTT/2 || p.Lost > 0 {
		t.Errorf("the path is %+v", p)
	}
}
