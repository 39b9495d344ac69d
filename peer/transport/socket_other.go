//go:build !linux

package transport

import (
	"errors"
	"net"
)

func pathOf(net.Conn) Path { return Path{} }

// SetCongestion fails on this system.
func (*Conn) SetCongestion(string) error { return errors.ErrUnsupported }

// SetUnsent does nothing on this system.
func (*Conn) SetUnsent(int) {}
