package stream

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// newArena maps memory for blocks, with huge pages where the system has them, since the faults of small pages cost more than
// filling them. It is unmapped with s. It returns nil if the system has no memory.
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
