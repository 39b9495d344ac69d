package control

import (
	"errors"
	"net"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// credentials returns the user at the other end of a Unix socket, as it was when the connection was made.
func credentials(c net.Conn) (u *vfs.User, err error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.New("no Unix socket")
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { u, failed = peerUser(fd) })
	return u, errors.Join(err, failed)
}
