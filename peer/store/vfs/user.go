package vfs

import "slices"

// User is a user of the machine, on whose behalf a daemon of another user works.
type User struct {
	UID    uint32   `json:"uid"`
	Groups []uint32 `json:"groups"`
}

// The bits of a mode that a user may have, of a file or of a directory.
const (
	mayRead   = 4
	mayWrite  = 2
	maySearch = 1
)

// may reports whether the mode of a file allows a user all of want. An access control list
// may take from users other than the owner what its mode seems to allow them.
func (u *User) may(want, uid, gid, mode uint32, acl bool) bool {
	switch {
	case uid == u.UID:
		mode >>= 6
	case acl:
		return false
	case slices.Contains(u.Groups, gid):
		mode >>= 3
	}
	return mode&want == want
}
