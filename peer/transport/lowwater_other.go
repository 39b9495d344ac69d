//go:build !linux

package transport

import (
	"errors"
	"syscall"
)

type lowWaterReader struct{}

func newLowWaterReader(syscall.RawConn) *lowWaterReader { return nil }

func (*lowWaterReader) read([]byte, int) (int, error) { return 0, errors.ErrUnsupported }
