package store

import (
	"io/fs"

	"github.com/mobgrid/mob/proto"
)

// modeBits are the bits of a mode that a manifest holds.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// specialBits returns the special bits of a mode, in the order of 0o1000, 0o2000 and 0o4000 in a manifest.
func specialBits() [3]fs.FileMode { return [3]fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} }

// bitsOf returns the bits of a manifest for a mode, and modeOf the mode for these.
func bitsOf(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for i, special := range specialBits() {
		if mode&special != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits).Perm()
	for i, special := range specialBits() {
		if bits&(0o1000<<i) != 0 {
			mode |= special
		}
	}
	return mode
}

// mode returns the mode for an entry, less the umask. info is nil or what exists. A directory keeps the setgid
// bit that it got from the directory above.
func (t *tree) mode(e *proto.Entry, info fs.FileInfo) fs.FileMode {
	bits := e.SafeMode()
	if t.opt.special {
		bits = e.Mode
	}
	mode := modeOf(bits) &^ t.files.umask
	if info != nil && info.IsDir() {
		mode |= info.Mode() & fs.ModeSetgid
	}
	return mode
}

// KeepSpecialBits makes Publish and Finish set the setuid and setgid bits of files, which they drop
// otherwise. It must be called before the store is used.
func (d *Disk) KeepSpecialBits() { d.tree.opt.special = true }
