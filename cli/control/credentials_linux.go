package control

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// maxGroups is the most groups that a user of Linux is in.
const maxGroups = 65536

// peerUser returns the user at the other end of a socket.
func peerUser(fd uintptr) (*vfs.User, error) {
	cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return nil, err
	}
	return &vfs.User{UID: cred.Uid, Groups: append(peerGroups(fd), cred.Gid)}, nil
}

// peerGroups returns the supplementary groups of the process at the other end of a socket. It
// returns none if the system does not say, which allows less.
func peerGroups(fd uintptr) []uint32 {
	groups := make([]uint32, 64)
	for {
		size := uint32(4 * len(groups))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == 0:
			return groups[:size/4]
		case errno != unix.ERANGE || len(groups) >= maxGroups:
			return nil
		}
		groups = make([]uint32, maxGroups)
	}
}
