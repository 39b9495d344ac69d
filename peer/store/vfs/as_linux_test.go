package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMay has a user open files of different owners and modes.
func TestMay(t *testing.T) {
	u := &User{UID: 7, Groups: []uint32{70, 71}}
	for _, c := range []struct {
		uid, gid, mode uint32
		acl            bool
		want           uint32
		may            bool
	}{
		{7, 1, 0o400, false, mayRead, true},
		{7, 1, 0o400, true, mayRead, true},
		{7, 70, 0o044, false, mayRead, false}, // the bits of the owner count, and no others
		{1, 71, 0o640, false, mayRead, true},
		{1, 71, 0o640, true, mayRead, false},
		{1, 71, 0o604, false, mayRead, false},
		{1, 1, 0o640, false, mayRead, false},
		{1, 1, 0o604, false, mayRead, true},
		{1, 1, 0o604, false, mayRead | mayWrite, false},
		{1, 1, 0o701, false, maySearch, true},
	} {
		if got := u.may(c.want, c.uid, c.gid, c.mode, c.acl); got != c.may {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// publicDir returns a directory that all users can read, for files of several users.
func publicDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make files of other users")
	}
	dir, err := os.MkdirTemp("/tmp", "mob") // $TMPDIR may be for one user only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPathsThatAreSwapped opens a path of a user, again and again, while the user puts links to
// what is not for him in its place. It never opens that.
func TestPathsThatAreSwapped(t *testing.T) {
	dir := publicDir(t)
	const user = 60002
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"his", "his/sub", "closed", "closed/sub"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"his/sub/f": "his", "closed/sub/f": "not his", "closed/key": "not his"} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Chmod(at("closed"), 0o700), os.Chown(at("his"), user, user), os.Chown(at("his/sub"), user, user)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../closed/sub", at("his/link")); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, at("his/sub"), unix.AT_FDCWD, at("his/link"), unix.RENAME_EXCHANGE)
			}
		}
	})
	as := As(&User{UID: user, Groups: []uint32{user}}, "")
	read := func(f File, err error) (string, error) {
		if err != nil {
			return "", err
		}
		defer f.Close()
		b := make([]byte, 10)
		n, _ := f.ReadAt(b, 0)
		return string(b[:n]), nil
	}
	above, err := as.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer above.Close()
	opened := 0
	for range 3000 {
		path := at("his/sub")
		for _, f := range []func() (string, error){
			func() (string, error) { return read(as.OpenFile(path+"/f", os.O_RDONLY, 0)) },
			func() (string, error) {
				path, err := as.Resolve(path)
				if err != nil {
					return "", err
				}
				r, err := as.OpenRoot(path)
				if err != nil {
					return "", err
				}
				defer r.Close()
				return read(r.OpenFile("f", os.O_RDONLY, 0))
			},
			func() (string, error) { return read(above.OpenFile("his/sub/f", os.O_RDONLY, 0)) },
		} {
			text, err := f()
			if text == "his" {
				opened++
			} else if err == nil {
				t.Fatalf("read %q", text)
			}
		}
	}
	close(done)
	swapping.Wait()
	if opened == 0 {
		t.Error("the user's own file was never opened")
	}
	if _, err := as.OpenFile(at("closed/key"), os.O_RDONLY, 0); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file in a closed folder: %v", err)
	}
	if err := as.Mkdir(at("closed/x"), 0o755); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder in a closed folder: %v", err)
	}
}

// TestClosedDirectoryInRoot checks that an open root gives a user nothing in a directory that only
// root may enter.
func TestClosedDirectoryInRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to enter the directory")
	}
	dir := t.TempDir()
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "closed"), 0o755),
		os.Mkdir(filepath.Join(dir, "closed", "sub"), 0o777),
		os.Symlink("f", filepath.Join(dir, "closed", "sub", "link")),
		os.WriteFile(filepath.Join(dir, "closed", "sub", "f"), nil, 0o666),
		os.Chmod(filepath.Join(dir, "closed", "sub"), 0o777),
		os.Chmod(filepath.Join(dir, "closed"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	as := As(&User{UID: 60002, Groups: []uint32{60002}}, "")
	r, err := as.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for call, f := range map[string]func() error{
		"OpenFile":      func() error { _, err := r.OpenFile("closed/sub/f", os.O_RDONLY, 0); return err },
		"Lstat":         func() error { _, err := r.Lstat("closed/sub/f"); return err },
		"Readlink":      func() error { _, err := r.Readlink("closed/sub/link"); return err },
		"Mkdir":         func() error { return r.Mkdir("closed/sub/d", 0o755) },
		"Symlink":       func() error { return r.Symlink("f", "closed/sub/l") },
		"Rename":        func() error { return r.Rename("closed/sub/f", "closed/sub/g") },
		"Remove":        func() error { return r.Remove("closed/sub/f") },
		"read closed":   func() error { _, err := r.OpenFile("closed", os.O_RDONLY, 0); return err },
		"Chmod":         func() error { return r.Chmod("closed/sub/f", 0o600) },
		"Lstat outside": func() error { _, err := r.Lstat("../x"); return err },
	} {
		if err := f(); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if infos := r.LstatAll([]string{"closed", "closed/sub/f"}); infos[0] == nil || infos[1] != nil {
		t.Errorf("LstatAll returned %v", infos)
	}
}

// TestResolveHidesNames resolves paths below a directory that a user may not enter, where nothing is.
func TestResolveHidesNames(t *testing.T) {
	dir := t.TempDir() // below a directory of mode 0700
	for _, name := range []string{"none", "none/x"} {
		path := filepath.Join(dir, name)
		_, err := As(&User{UID: uint32(os.Geteuid()) + 1}, "").Resolve(path)
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestModeOfFileOfAnotherOwner opens files of several owners for a user that may write to them. Only an owner sets mode and time.
func TestModeOfFileOfAnotherOwner(t *testing.T) {
	dir := publicDir(t)
	const user = 60002
	for name, owner := range map[string]int{"own": user, "other": user + 1, "root": 0} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Chmod(path, 0o666), os.Chown(path, owner, owner)); err != nil {
			t.Fatal(err)
		}
		f, err := As(&User{UID: user}, "").OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, timed := f.SetModTime(time.Unix(1, 0))
		moded := f.Chmod(0o600)
		info, err := os.Stat(path)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if owner == user && (timed != nil || moded != nil || info.Mode() != 0o600) {
			t.Errorf("%s: %v, %v, mode %v", name, timed, moded, info.Mode())
		}
		if owner != user && (!errors.Is(timed, fs.ErrPermission) || !errors.Is(moded, fs.ErrPermission) || info.Mode() != 0o666) {
			t.Errorf("%s: %v, %v, mode %v", name, timed, moded, info.Mode())
		}
	}
}
