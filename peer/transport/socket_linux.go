package transport

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// control calls f with the descriptor of a socket. It fails if a connection is not a socket.
func control(c net.Conn, f func(fd int) error) error {
	raw := rawConn(c)
	if raw == nil {
		return errors.ErrUnsupported
	}
	var failed error
	err := raw.Control(func(fd uintptr) { failed = f(int(fd)) })
	return errors.Join(err, failed)
}

func pathOf(c net.Conn) (p Path) {
	_ = control(c, func(fd int) error {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return err
		}
		if info.Min_rtt != ^uint32(0) {
			p.MinRTT = time.Duration(info.Min_rtt) * time.Microsecond
		}
		p.RTT = time.Duration(info.Rtt) * time.Microsecond
		p.Sent = uint64(info.Data_segs_out)
		p.Lost = min(uint64(info.Total_retrans), p.Sent)
		p.Acked = info.Bytes_acked
		p.Busy = time.Duration(info.Busy_time) * time.Microsecond
		return nil
	})
	return p
}

// SetCongestion sets the congestion control of the socket. It fails if the kernel does not have it or does
// not allow it.
func (c *Conn) SetCongestion(name string) error {
	return control(c.raw, func(fd int) error {
		return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
}

// SetUnsent bounds the bytes that the kernel accepts and cannot send yet.
func (c *Conn) SetUnsent(bytes int) {
	_ = control(c.raw, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
