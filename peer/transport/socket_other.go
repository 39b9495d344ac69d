//go:build !linux

package transport

import (
	"errors"
	"net"
)

// Path returns the zero Path: this system does not report measurements.
func (*Conn) Path() Path { return Path{} }

func pathOf(net.Conn) Path { return Path{} }

// SetCongestion fails on this system.
func (*Conn) SetCongestion(string) error { return errors.ErrUnsupported }

// SetUnsent does nothing on this system.
func (*Conn) SetUnsent(int) {}
