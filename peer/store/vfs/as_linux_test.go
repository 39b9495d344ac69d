package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

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

// TestPathsThatAreSwapped opens a path of a user, again and again, while the user puts links to
// what is not for him in its place. It never opens that.
func TestPathsThatAreSwapped(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make files of other users")
	}
	dir, err := os.MkdirTemp("/tmp", "mob") // $TMPDIR may be for one user only
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Symlink(at("closed/sub"), at("his/link")); err != nil {
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
	as := As(&User{UID: user, Groups: []uint32{user}}, "", at("state"))
	read := func(f File, err error) (string, error) {
		if err != nil {
			return "", err
		}
		defer f.Close()
		b := make([]byte, 10)
		n, _ := f.ReadAt(b, 0)
		return string(b[:n]), nil
	}
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
