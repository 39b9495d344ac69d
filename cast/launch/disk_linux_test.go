package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mounts is a login shell that first mounts something in its own namespace.
func (s *site) mounts(setup string) Shell {
	s.Helper()
	if os.Getuid() != 0 {
		s.Skip("only root mounts")
	}
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		s.Skipf("no namespaces: %v: %s", err, out)
	}
	path := filepath.Join(s.dir, "login")
	s.write(path, []byte("#!/bin/sh\nexec unshare -m /bin/sh -ec '"+setup+"\nexec /bin/sh -c \"$0\"' \"$2\"\n"))
	return s.shell(path, "")
}

// TestNoexec mounts $TMPDIR so that nothing there can be executed.
func TestNoexec(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Shell: s.mounts(`mount -t tmpfs -o noexec none "$TMPDIR"`), Programs: absent(t)})
	p := s.start(c, "n1")
	dir := s.ask(p, "one").Dir
	if filepath.Dir(dir) != "/tmp" {
		t.Errorf("the directory is %s", dir)
	}
	s.finish(p)
	s.empty("n1")
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
}

// TestNoDirectory checks the error if no directory is usable.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := New(Config{Programs: absent(t), Shell: s.mounts(`
		for d in /tmp /var/tmp /dev/shm; do mount --bind $d $d; mount -o remount,bind,noexec $d; done
		mount -t tmpfs -o size=1m none "$TMPDIR"; mount -t tmpfs -o noexec none "$HOME"`)})
	_, err := c.Start(t.Context(), "n1", "A", noNote)
	if err == nil || !strings.HasPrefix(err.Error(), "no directory for the program: "+s.dir+"/n1/tmp has no ") ||
		!strings.Contains(err.Error(), ", nothing can be executed in /tmp, nothing can be executed in /var/tmp, ") {
		t.Errorf("error %v", err)
	}
	s.empty("n1")
}

// TestDiskFull fills the disk while the program is written, although df reported enough.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fake("df", `echo "Filesystem 1024-blocks Used Available Capacity Mounted on none 99999999 0 99999999 0% /"`)
	shell := s.mounts(`mount -t tmpfs -o size=1m none "$TMPDIR"`)
	s.fails(New(Config{Shell: shell, Programs: absent(t)}), "n1", "the program cannot be written to "+s.dir+"/n1/tmp")
}
