//go:build !linux

package datadir

import "os"

// InMemory creates a file without a name in memory, or in a directory where the system has no such files.
func InMemory(dir string) (*os.File, error) { return Unnamed(dir) }
