//go:build !linux

package transport

import (
	"syscall"
	"time"
)

func minRTT(syscall.RawConn) time.Duration { return 0 }

func limitUnsent(syscall.RawConn, int) {}
