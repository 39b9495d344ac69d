//go:build unix

package datadir

import (
	"fmt"
	"os"
	"syscall"
)

// Create creates a data directory unless it exists. It fails if another user could change its
// files, such as the key or the control socket.
func Create(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("the data directory %s can be changed by other users (mode %04o): `chmod go-w %s`", dir, mode, dir)
	}
	return nil
}

// OthersMayRead reports whether users other than its owner may read or change a file. Root's group may read it: a credential that
// systemd passes to a service has mode 0440, and an access control list with the user of the service.
func OthersMayRead(info os.FileInfo) bool {
	denied := os.FileMode(0o077)
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Gid == 0 {
		denied = 0o037
	}
	return info.Mode().Perm()&denied != 0
}

// checkPrivate fails if another user can read a file.
func checkPrivate(path, hint string, info os.FileInfo) error {
	if err := checkOwner(path, info); err != nil {
		return err
	}
	if OthersMayRead(info) {
		return fmt.Errorf("%s can be read by other users (mode %04o): `chmod 600 %s`%s", path, info.Mode().Perm(), path, hint)
	}
	return nil
}

// checkOwner fails if a file belongs to neither the user of this process nor root.
func checkOwner(path string, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 || int64(st.Uid) == int64(os.Geteuid()) {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d, and this program runs as user %d: run it as that user, or choose another --data",
		path, st.Uid, os.Geteuid())
}
