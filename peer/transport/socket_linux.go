package transport

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func path(raw syscall.RawConn) (p Path) {
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		if info.Min_rtt != ^uint32(0) {
			p.MinRTT = time.Duration(info.Min_rtt) * time.Microsecond
		}
		p.RTT = time.Duration(info.Rtt) * time.Microsecond
		p.Sent = uint64(info.Data_segs_out)
		p.Lost = min(uint64(info.Total_retrans), p.Sent)
		p.Acked = info.Bytes_acked
		p.Busy = time.Duration(info.Busy_time) * time.Microsecond
	})
	return p
}

func setCongestion(raw syscall.RawConn, name string) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
	return errors.Join(err, failed)
}

// limitUnsent makes writes block while the kernel holds that many bytes which the
// peer's window or the path has no room for.
func limitUnsent(raw syscall.RawConn, bytes int) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
