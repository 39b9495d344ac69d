package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mobgrid/mob/peer/datadir"
)

// isFolderName reports whether a path names a folder, whatever exists there.
func isFolderName(path string) bool {
	last := filepath.Base(path)
	return strings.HasSuffix(path, "/") || last == "." || last == ".."
}

// overwrite writes a file at a path that the user gives. What exists at path gets the bytes, be it
// a file, a pipe or a device. If path leads to standard output, they go there.
func (env *Env) overwrite(path string, b []byte) error {
	info, err := os.Stat(path)
	if err == nil && env.isOut(info) {
		_, err = env.Out.Write(b)
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

// isOut reports whether info describes standard output.
func (env *Env) isOut(info fs.FileInfo) bool {
	f, ok := env.Out.(*os.File)
	if !ok {
		return false
	}
	out, err := f.Stat()
	return err == nil && os.SameFile(info, out)
}

// outFile is a file for a command's result, at a path that the user gives.
type outFile struct {
	path string
}

// check reports why the file cannot be written. If the path names a folder, name is the file in it.
func (o *outFile) check(name string) error {
	info, err := os.Stat(o.path)
	if isFolderName(o.path) || err == nil && info.IsDir() {
		o.path = filepath.Join(o.path, name)
		info, err = os.Stat(o.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dir := filepath.Dir(o.path)
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return fmt.Errorf("the folder %s does not exist", dir)
		}
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder", o.path)
	}
	return nil
}

// write writes the file, after check. A regular file is replaced atomically; a link to one stays.
func (o *outFile) write(env *Env, b []byte) error {
	info, err := os.Stat(o.path)
	switch {
	case err == nil && (env.isOut(info) || !info.Mode().IsRegular()):
		return env.overwrite(o.path, b)
	case err == nil:
		path, err := filepath.EvalSymlinks(o.path)
		if err != nil {
			return err
		}
		return datadir.WriteFile(path, b, info.Mode().Perm())
	}
	return datadir.WriteFile(o.path, b, 0o644)
}
