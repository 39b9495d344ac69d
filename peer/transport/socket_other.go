//go:build !linux

package transport

import (
	"syscall"
	"time"
)

func minRTT(syscall.RawConn) time.Duration { return 0 }

func limitUnsent(syscall.RawConn, int) {}

func countSegments(syscall.RawConn) (sent, lost uint64) { return 0, 0 }
