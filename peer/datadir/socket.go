package datadir

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// ListenUnix binds a socket that only its owner can open, and replaces any file at path. It creates the
// socket in dir, a private directory of the same file system, and moves it once its mode is set and ready
// has returned. ready may be nil. Closing the listener removes the socket.
func ListenUnix(path, dir string, ready func(socket string) error) (net.Listener, error) {
	temp := filepath.Join(dir, "s") // short, as the path of a socket must be
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	err = os.Chmod(temp, 0o600)
	if err == nil && ready != nil {
		err = ready(temp)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return &Socket{UnixListener: ln, remove: sync.OnceFunc(func() { _ = os.Remove(path) })}, nil
}

// A Socket is the listener of [ListenUnix]. Closing it removes the socket; closing the UnixListener does not.
type Socket struct {
	*net.UnixListener
	remove func() // once: later the path may belong to another program
}

// Close implements [net.Listener].
func (s *Socket) Close() error {
	s.remove()
	return s.UnixListener.Close()
}
