package control

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// credentials returns the user at the other end of a Unix socket, as it was when the
// connection was made.
func credentials(c net.Conn) (*vfs.User, error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.New("no Unix socket")
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) })
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	return &vfs.User{UID: cred.Uid, Groups: cred.Groups[:cred.Ngroups]}, nil
}
