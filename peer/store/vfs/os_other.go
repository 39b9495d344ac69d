//go:build !linux

package vfs

// SyncFS implements [File].
func (osFile) SyncFS() (bool, error) { return false, nil }

// Free implements [Root].
func (osRoot) Free() (int64, bool) { return 0, false }

// IsHole implements [File].
func (osFile) IsHole(int64, int64) bool { return false }

// DropCache implements [File].
func (osFile) DropCache() {}
