package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/mobgrid/mob/peer/datadir"
)

// maxSocketPath is the longest path of a socket: 107 bytes on Linux, 103 on macOS.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketPath returns the path of the socket of a data directory.
func socketPath(data string) (string, error) {
	path := filepath.Join(data, SocketName)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("the path of the control socket %s is too long (%d bytes, at most %d): choose a shorter --data",
			path, len(path), maxSocketPath)
	}
	return path, nil
}

// Listen opens the control socket of a data directory, for its owner and the members of a group, if
// one is given, and replaces a stale one. The caller must hold the directory's lock, since Listen would
// replace the socket of a running daemon as well. It returns a socket that systemd has opened unchanged.
func Listen(data, group string) (net.Listener, error) {
	path, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	if ln, err := passed(path); ln != nil || err != nil {
		return ln, err
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("%s is in the way of the control socket: move it away", path)
	}
	ln, err := listen(data, path, group)
	if err != nil {
		return nil, fmt.Errorf("cannot open the control socket: %w", err)
	}
	return ln, nil
}

// listen binds the socket and replaces a stale one.
func listen(data, path, group string) (net.Listener, error) {
	dir := filepath.Join(data, ".s") // short, as the path of a socket must be
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var ready func(socket string) error
	if group != "" {
		ready = func(socket string) error { return openToGroup(data, socket, group) }
	}
	return datadir.ListenUnix(path, dir, ready)
}

// openToGroup lets the members of a group through the data directory to a socket.
func openToGroup(data, socket, group string) error {
	gid, err := strconv.Atoi(group)
	if g, unknown := user.LookupGroup(group); unknown == nil {
		gid, err = strconv.Atoi(g.Gid)
	}
	if err != nil {
		return fmt.Errorf("there is no group %q", group)
	}
	info, err := os.Stat(data)
	if err != nil {
		return err
	}
	err = errors.Join(os.Chown(data, -1, gid), os.Chown(socket, -1, gid))
	if err == nil {
		err = errors.Join(os.Chmod(data, info.Mode().Perm()&^0o070|0o010), os.Chmod(socket, 0o660))
	}
	if err != nil {
		return fmt.Errorf("for the group %s: %w", group, err)
	}
	return nil
}
