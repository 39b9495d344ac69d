package control

import (
	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// peerUser returns the user at the other end of a socket.
func peerUser(fd uintptr) (*vfs.User, error) {
	cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return nil, err
	}
	return &vfs.User{UID: cred.Uid, Groups: cred.Groups[:cred.Ngroups]}, nil
}
