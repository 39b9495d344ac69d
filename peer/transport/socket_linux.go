package transport

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func minRTT(raw syscall.RawConn) (rtt time.Duration) {
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.Min_rtt != ^uint32(0) {
			rtt = time.Duration(info.Min_rtt) * time.Microsecond
		}
	})
	return rtt
}

func countSegments(raw syscall.RawConn) (sent, lost uint64) {
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			sent, lost = uint64(info.Data_segs_out), uint64(info.Total_retrans)
		}
	})
	return sent, min(lost, sent)
}

// limitUnsent makes writes block while the kernel holds that many bytes which the
// peer's window or the path has no room for.
func limitUnsent(raw syscall.RawConn, bytes int) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
