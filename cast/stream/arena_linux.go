package stream

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// newArena returns room for some blocks, of huge pages where the system has them: to bring in small ones costs more
// than to fill them. It takes no memory before it is used. It lives as long as s, and is nil if there is none.
func newArena(s *space, blocks int) []byte {
	const flags = unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_NORESERVE
	b, err := unix.Mmap(-1, 0, blocks*pieceSize, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	runtime.AddCleanup(s, func(b []byte) { _ = unix.Munmap(b) }, b)
	return b
}
