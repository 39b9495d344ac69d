package cli

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// TestDaemonInOtherMounts starts a daemon with a separate /tmp. Paths there are rejected, since the command sees
// other files.
func TestDaemonInOtherMounts(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	unshare, err := exec.LookPath("unshare")
	if err == nil {
		err = exec.Command(unshare, "-m", "true").Run()
	}
	if err != nil {
		t.Skip("mounts cannot be separated here: ", err)
	}
	m.daemon("a", "A")
	m.mkdir("tmp", 0, 0, 0o755)
	m.mkdir("tmp/sub", 0, 0, 0o755)
	m.mkdir("b", 0, 0, 0o700)
	cmd := m.command(0, "mobd", "--cluster", "B", "--listen", "/ip4/127.0.0.1/tcp/0", "--data", m.path("b"))
	cmd.Args = append([]string{"unshare", "-m", "--propagation", "private", "sh", "-c",
		`mount -t tmpfs none "$0" && mkdir "$0/sub" && exec "$@"`, m.path("tmp"), m.path("mobd")}, cmd.Args[1:]...)
	cmd.Path, cmd.Env = unshare, append(cmd.Env, "PATH="+os.Getenv("PATH"))
	m.start(cmd)

	m.write("x", 0, 0, 0o644)
	link := m.works(daemonUser, "--data", "a", "seed", "x")
	for _, path := range []string{"tmp/sub/dst", "tmp/dst", "tmp/new/dst"} {
		m.rejected("different mounts", 0, "--data", "b", "get", link, "-o", path)
		if _, err := os.Lstat(m.path(path)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	m.write("tmp/own", 0, 0, 0o644)
	m.rejected("different mounts", 0, "--data", "b", "seed", "tmp/own")
	feed := m.works(daemonUser, "--data", "a", "feed", "new", "w",
		"--tracker", "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWJbwoP4oqfLqTguaPJL6NAHkF67mDY1MA9aKxiDLANrJV")
	m.rejected("different mounts", 0, "--data", "b", "feed", "follow", feed, "-o", "tmp/sub/feed")
	m.works(0, "--data", "b", "get", link, "-o", "both")
}
