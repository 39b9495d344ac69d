package command

import (
	"errors"
	"path/filepath"
)

// DefaultData returns the default of --data: $MOB_DATA, then the directory mob in the
// XDG state directory. It is empty without a home directory.
func (env *Env) DefaultData() string {
	if dir := env.Getenv("MOB_DATA"); dir != "" {
		return dir
	}
	if dir := env.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // the convention ignores relative paths
		return filepath.Join(dir, "mob")
	}
	if dir := env.Getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".local", "state", "mob")
	}
	return ""
}

// DataDir returns the absolute path of a data directory.
func DataDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data directory: give --data, or set MOB_DATA")
	}
	return filepath.Abs(dir)
}
