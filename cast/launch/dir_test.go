package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDirNameSecret checks that the command line, which other users of a host can read, does not name
// the directory of the program.
func TestDirNameSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lines := filepath.Join(t.TempDir(), "lines")
	c := New(Config{Shell: s.shell("/bin/sh", `printf "%s\n" "$*" >"`+lines+`"; `), Programs: absent(t)})
	dir := s.ask(s.start(c, "n1"), "one").Dir
	b, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(filepath.Base(dir), dirPrefix)
	if len(name) < 20 || strings.Contains(string(b), name) {
		t.Errorf("the command line contains the name of %s", dir)
	}
}

// TestDirExists checks that an existing directory with the name of the program's directory is not used, not even an
// own one.
func TestDirExists(t *testing.T) {
	t.Parallel()
	for name, ps := range map[string]*Programs{"uploaded": absent(t), "there": present(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c := New(Config{Programs: ps, Shell: Shell{"sh", "-c", `
				read -r name; mkdir -p "` + s.dir + `/$1/tmp"
				mkdir -m 700 "` + s.dir + `/$1/tmp/mob.$name"; echo bait >"` + s.dir + `/$1/tmp/mob.$name/bait"
				{ echo "$name"; cat; } | { ` + s.login("/bin/sh", "") + `; }`, "rsh"}})
			p := s.start(c, "n1")
			dir := s.ask(p, "one").Dir
			if strings.HasPrefix(dir, s.dir) {
				t.Errorf("the directory is %s", dir)
			}
			s.finish(p)
			if files := s.files("n1"); len(files) != 2 || filepath.Base(files[1]) != "bait" {
				t.Errorf("on the host is %q, want the directory with the bait", files)
			}
		})
	}
}

// TestUnguardedTemporary checks that neither the script nor the program creates its directory where other users
// could replace it.
func TestUnguardedTemporary(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"1777", "755", "700", "777", "733", "1777 of another user", "755 of another user"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			bits, _, other := strings.Cut(mode, " ")
			change := `chmod ` + bits + ` "$H/tmp"; `
			if other {
				if os.Geteuid() != 0 {
					t.Skip("only root may give directories away")
				}
				change += `chown 12345 "$H/tmp"; `
			}
			c := New(Config{Shell: s.shell("/bin/sh", change), Programs: absent(t)})
			dir := s.ask(s.start(c, "n1"), "one").Dir
			tmp := filepath.Join(s.dir, "n1/tmp")
			safe := bits != "777" && bits != "733" && !other
			if used := filepath.Dir(dir) == tmp; used != safe {
				t.Errorf("the directory is %s, and $TMPDIR has mode %s", dir, mode)
			}
			path := filepath.Join(tmp, dirPrefix+"X")
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			root, err := openPrivate(path)
			if err == nil {
				err = root.Close()
			}
			if (err == nil) != safe {
				t.Errorf("openPrivate: %v", err)
			}
			_ = os.Remove(path)
		})
	}
}

// TestDirOfOtherUser checks that the program does not use a directory that is a link, belongs to another user or can be
// used by one, and leaves the files in it.
func TestDirOfOtherUser(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"mode":  func(path string) error { return os.Chmod(path, 0o750) },
		"owner": func(path string) error { return os.Chown(path, 65534, 65534) },
		"link": func(path string) error {
			if err := os.Rename(path, path+".target"); err != nil {
				return err
			}
			return os.Symlink(path+".target", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), dirPrefix+"X")
			bait := filepath.Join(path, "bait")
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(bait, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := change(path); err != nil {
				t.Skip(err)
			}
			dir, root, err := openDir(path)
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if err := removeFiles(root); err != nil {
				t.Error(err)
			}
			if err := root.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(bait); err != nil || dir == path {
				t.Error(fmt.Errorf("the directory is %s: %w", dir, err))
			}
		})
	}
}
