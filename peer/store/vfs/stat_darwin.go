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
		Device: uint64(st.Dev), Inode: st.Ino, Links: uint64(st.Nlink), Changed: st.Ctimespec.Nano(),
		Allocated: st.Blocks * 512,
	}
}
