package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// isDirName reports whether a path names a directory, whatever exists there.
func isDirName(path string) bool {
	last := filepath.Base(path)
	return strings.HasSuffix(path, "/") || last == "." || last == ".."
}

// outFile is a file for a command's result, at a path that the user gives.
type outFile struct {
	path  string
	flag  string // takes the path
	force bool   // replace a file that exists
}

// check reports why the file cannot be written. If the path names a directory, name is the file in it.
func (o *outFile) check(env *command.Env, name string) error {
	info, err := os.Stat(o.path)
	if isDirName(o.path) || err == nil && info.IsDir() {
		if o.path, err = chosenPath(o.path, name, o.flag); err != nil {
			return err
		}
		info, err = os.Stat(o.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(o.path); err == nil {
			return fmt.Errorf("%s exists already, as a link to a file that does not: choose another path", o.path)
		}
		dir := filepath.Dir(o.path)
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return fmt.Errorf("the directory %s does not exist", dir)
		}
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory", o.path)
	case info.Mode().IsRegular() && !o.force && !env.IsOut(info):
		return errOutExists(o.path)
	}
	return nil
}

func errOutExists(path string) error {
	return fmt.Errorf("%s exists already: choose another path, or replace it with --force", path)
}

// write writes the file, after check, for the content at root. A regular file is replaced atomically,
// unless it is of the content; a link to one stays.
func (o *outFile) write(env *command.Env, b []byte, root string) error {
	info, err := os.Stat(o.path)
	switch {
	case err == nil && (env.IsOut(info) || !info.Mode().IsRegular()):
		return env.OverwriteFile(o.path, info, b)
	case err == nil && !o.force:
		return errOutExists(o.path)
	case err == nil:
		file, err := vfs.PlaceOf(vfs.OS{}, o.path)
		if err != nil {
			return err
		}
		if content, err := vfs.PlaceOf(vfs.OS{}, root); err == nil && len(content.Rest) == 0 && content.Holds(file) {
			return fmt.Errorf("%s is part of the content: choose another path", o.path)
		}
		return datadir.WriteFile(file.Path, b, info.Mode().Perm())
	}
	err = datadir.CreateFile(o.path, b, 0o666&^command.Umask())
	if errors.Is(err, fs.ErrExist) {
		return errOutExists(o.path)
	}
	return err
}

// chosenPath returns the path in dir for a name that the content has, and that the user did not give. It fails if the
// name begins with a dot: in a home directory, shells and other programs read such files without being told. flag
// takes the path.
func chosenPath(dir, name, flag string) (string, error) {
	path := name
	if dir != "" {
		path = strings.TrimSuffix(dir, "/") + "/" + name // [filepath.Join] takes LINK/.. for the directory of the link
	}
	if strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("the name %s begins with a dot: to create it, give its path: %s %s", shellWord(name), flag, shellWord(filepath.Join(dir, name)))
	}
	return path, nil
}

// shellWord returns text as one word for a shell.
func shellWord(text string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
	}
	if text != "" && strings.TrimLeftFunc(text, safe) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
