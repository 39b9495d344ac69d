package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the longest path of a socket: 107 bytes on Linux, 103 on macOS.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketPath returns the path of the socket of a data folder.
func socketPath(data string) (string, error) {
	path := filepath.Join(data, SocketName)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("the path of the control socket %s is too long (%d bytes, at most %d): choose a shorter --data",
			path, len(path), maxSocketPath)
	}
	return path, nil
}

// Listen opens the control socket of a data folder, and replaces a stale one. The
// caller must hold the folder's lock, since it would replace the socket of a
// running daemon as well.
func Listen(data string) (net.Listener, error) {
	path, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is in the way of the control socket: move it away", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot replace the control socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}
