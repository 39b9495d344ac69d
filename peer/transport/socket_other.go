//go:build !linux

package transport

import (
	"errors"
	"syscall"
)

func path(syscall.RawConn) Path { return Path{} }

func setCongestion(syscall.RawConn, string) error { return errors.ErrUnsupported }

func limitUnsent(syscall.RawConn, int) {}
