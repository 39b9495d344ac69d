package bulk

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func minRTT(raw syscall.RawConn) (rtt time.Duration) {
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil && info.Min_rtt != ^uint32(0) {
			rtt = time.Duration(info.Min_rtt) * time.Microsecond
		}
	})
	return rtt
}
