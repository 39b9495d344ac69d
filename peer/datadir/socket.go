package datadir

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// ListenUnix binds a socket that only its owner can open, in place of what is at path. Until the socket
// has its mode, which is up to the umask at first, and ready has returned, it is in dir: a folder of the
// same file system that nobody else can enter. ready may be nil. Closing the listener removes the socket.
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

// Socket is the listener of [ListenUnix]: closing it removes the socket, closing what is under it does not.
type Socket struct {
	*net.UnixListener
	remove func() // once: later the path may be that of another program
}

// Close implements [net.Listener].
func (s *Socket) Close() error {
	s.remove()
	return s.UnixListener.Close()
}
