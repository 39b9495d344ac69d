package command

import (
	"io/fs"
	"sync"
	"syscall"
)

// ContentUmask returns the permissions that content does not get: the umask of the process if it takes read
// permission, such as 027 or 077, and 0 for one such as 022. With the latter a copy has the modes of its source, and so
// the same content id when it is seeded.
func ContentUmask() fs.FileMode {
	if umask := Umask(); umask&0o044 != 0 {
		return umask
	}
	return 0
}

// Umask returns the umask of the process.
func Umask() fs.FileMode { return processUmask() }

// processUmask returns the umask at the first call. To read it is to set it, which must not happen twice at a time.
//
//nolint:gochecknoglobals // constant
var processUmask = sync.OnceValue(func() fs.FileMode {
	umask := syscall.Umask(0o077)
	syscall.Umask(umask)
	return fs.FileMode(umask).Perm()
})
