//go:build !linux

package transport

import (
	"errors"
	"syscall"
)

type lowWater struct{}

func newLowWater(syscall.RawConn) *lowWater { return nil }

func (*lowWater) read([]byte, int) (int, error) { return 0, errors.ErrUnsupported }
