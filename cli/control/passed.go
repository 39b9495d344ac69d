package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// firstPassed is the first file descriptor that systemd passes: sd_listen_fds(3).
const firstPassed = 3

// passed returns the control socket that systemd has opened for this process, nil if it has
// opened none. The socket unit sets its owner, group and mode, and systemd keeps it
// open after the process has ended: commands then wait for the next one.
func passed(path string) (net.Listener, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if n := os.Getenv("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("systemd passed %s sockets: give mobd.socket a single ListenStream=%s", n, path)
	}
	f := os.NewFile(firstPassed, "control socket")
	ln, err := net.FileListener(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("the control socket that systemd passed: %w", err)
	}
	if unix, ok := ln.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false)
	}
	if at := ln.Addr(); at.Network() != "unix" || !samePath(at.String(), path) {
		return nil, errors.Join(ln.Close(), fmt.Errorf(
			"systemd passed the socket %s, and commands look for %s: correct ListenStream= of mobd.socket", at, path))
	}
	return ln, nil
}

// samePath reports whether two paths are the same, or lead through links to the same file.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}
