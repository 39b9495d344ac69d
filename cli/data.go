package cli

import (
	"errors"
	"path/filepath"
)

// defaultData is the data folder when none is given: $MOB_DATA, then the one of
// the XDG convention for state, empty when there is no home.
func (env *Env) defaultData() string {
	if dir := env.Getenv("MOB_DATA"); dir != "" {
		return dir
	}
	if dir := env.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // others are to be ignored, it says
		return filepath.Join(dir, "mob")
	}
	if dir := env.Getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".local", "state", "mob")
	}
	return ""
}

// dataFolder is the data folder as an absolute path.
func dataFolder(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data folder is known: give --data, or set MOB_DATA")
	}
	return filepath.Abs(dir)
}
