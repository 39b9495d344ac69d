package vfs

import (
	"io/fs"
	"syscall"
)

func statOf(info fs.FileInfo) Stat {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{Changed: info.ModTime().UnixNano()}
	}
	return Stat{
		Device: uint64(st.Dev), Inode: st.Ino, //nolint:unconvert // narrower on some systems
		Links: uint64(st.Nlink), Changed: st.Ctim.Nano(), //nolint:unconvert // likewise
		Allocated: st.Blocks * 512,
	}
}
