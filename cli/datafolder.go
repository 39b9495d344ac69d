package cli

import (
	"errors"
	"path/filepath"
)

// defaultData returns the default of --data: $MOB_DATA, then mob's folder in the
// XDG state folder, empty without a home folder.
func (env *Env) defaultData() string {
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

// dataFolder returns the absolute path of a data folder.
func dataFolder(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data folder: give --data, or set MOB_DATA")
	}
	return filepath.Abs(dir)
}
