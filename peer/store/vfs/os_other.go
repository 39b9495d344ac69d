//go:build !linux

package vfs

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

const passFlags = os.O_RDONLY

// openBeneath reports that the system has no such call.
func (osRoot) openBeneath(string, int, fs.FileMode) (*os.File, bool, error) { return nil, false, nil }

// SyncFS implements [File].
func (osFile) SyncFS() (bool, error) { return false, nil }

// changed returns the time of the last change of a file, in Unix nanoseconds.
func changed(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }

// Born implements [Root].
func (osRoot) Born(string) int64 { return 0 }

// SetModTime implements [File].
func (osFile) SetModTime(time.Time) (bool, error) { return false, nil }

// Free implements [Root].
func (osRoot) Free() (int64, bool) { return 0, false }

// FineTime implements [Root].
func (osRoot) FineTime(int64) bool { return false }

// IsHole implements [File].
func (osFile) IsHole(int64, int64) bool { return false }

// DropCache implements [File].
func (osFile) DropCache() {}
