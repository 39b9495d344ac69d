//go:build !linux && !darwin

package vfs

import "io/fs"

func statOf(info fs.FileInfo) Stat { return Stat{Changed: info.ModTime().UnixNano()} }
