package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a directory with programs, daemons and users.
type machine struct {
	t   *testing.T
	dir string
}

// Users of a machine. Those who work are members of the group of the sockets.
const (
	daemonUser = 60001
	alice      = 60002
	bob        = 60003
	eve        = 60004
	workers    = 60010
)

func newMachine(t *testing.T) *machine {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run programs as several users")
	}
	// The path is short, as the path of a socket must be. $TMPDIR may be for one user only.
	dir, err := os.MkdirTemp("/tmp", "mob")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	m := &machine{t, dir}
	m.check(os.Chmod(dir, 0o755))
	exe, err := os.Executable()
	m.check(err)
	// A child makes the copy: what this process writes can be open in a child of another test, and a program
	// that is open for writing does not run.
	out, err := exec.Command("cp", exe, m.path("mob")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.check(errors.Join(os.Chmod(m.path("mob"), 0o755), os.Link(m.path("mob"), m.path("mobd"))))
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *machine) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// mkdir makes a directory of a user, with a group and a mode.
func (m *machine) mkdir(name string, user, group int, mode os.FileMode) {
	m.t.Helper()
	m.check(errors.Join(os.Mkdir(m.path(name), 0o700), os.Chown(m.path(name), user, group), os.Chmod(m.path(name), mode)))
}

// write writes a file of a user.
func (m *machine) write(name string, user, group int, mode os.FileMode) {
	m.t.Helper()
	m.check(errors.Join(os.WriteFile(m.path(name), []byte("content of "+name), 0o600),
		os.Chown(m.path(name), user, group), os.Chmod(m.path(name), mode)))
}

// command returns a program that runs as a user.
func (m *machine) command(user int, program string, arg ...string) *exec.Cmd {
	cmd := exec.Command(m.path(program), arg...)
	cmd.Dir, cmd.Env = m.dir, []string{"GORACE=atexit_sleep_ms=0", "HOME=" + m.dir}
	groups := []uint32{}
	if user != eve {
		groups = append(groups, workers)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user), Groups: groups}}
	return cmd
}

// daemon starts a daemon with a separate data directory.
func (m *machine) daemon(data, cluster string) {
	m.t.Helper()
	m.mkdir(data, daemonUser, daemonUser, 0o700)
	m.start(m.command(daemonUser, "mobd", "--cluster", cluster, "--listen", "/ip4/127.0.0.1/tcp/0", "--data", m.path(data), "--socket-group", "60010"))
}

// start starts a daemon, and ends it with the test.
func (m *machine) start(cmd *exec.Cmd) {
	m.t.Helper()
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	m.check(err)
	m.check(cmd.Start())
	m.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	first := make([]byte, 5)
	if _, err := io.ReadFull(out, first); err != nil {
		m.t.Fatalf("no daemon: %v\n%s", err, log.String())
	}
}

// mob runs a command as a user.
func (m *machine) mob(user int, arg ...string) (status int, out, text string) {
	m.t.Helper()
	cmd := m.command(user, "mob", arg...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(scriptTimeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		m.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// works runs a command that must succeed, and returns what it prints.
func (m *machine) works(user int, arg ...string) string {
	m.t.Helper()
	status, out, text := m.mob(user, arg...)
	if status != 0 {
		m.t.Fatalf("user %d: mob %s: status %d\n%s", user, strings.Join(arg, " "), status, text)
	}
	return strings.TrimSpace(out)
}

// rejected runs a command that must fail with a text, in one line.
func (m *machine) rejected(want string, user int, arg ...string) {
	m.t.Helper()
	status, out, text := m.mob(user, arg...)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if status != 1 || out != "" || !strings.Contains(lines[len(lines)-1], want) {
		m.t.Errorf("user %d: mob %s: status %d, want %q\n%s%s", user, strings.Join(arg, " "), status, want, out, text)
	}
}

// TestUsers checks that users who do not own a daemon use it for files that they may read and write, and for
// no other files.
func TestUsers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.daemon("a", "A")
	m.daemon("b", "B")
	m.mkdir("alice", alice, alice, 0o777)
	m.mkdir("bob", bob, bob, 0o777)
	m.write("alice/x", alice, alice, 0o644)
	m.mkdir("alice/tree", alice, alice, 0o755)
	m.write("alice/tree/y", alice, alice, 0o644)
	m.mkdir("alice/mixed", alice, alice, 0o755)
	m.write("alice/mixed/y", alice, alice, 0o644)
	m.write("alice/mixed/z", bob, daemonUser, 0o640) // the daemon may read it, alice may not
	m.mkdir("alice/mixed/closed", bob, daemonUser, 0o750)
	m.write("alice/mixed/closed/open", bob, bob, 0o644)
	m.write("bob/secret", bob, daemonUser, 0o640)
	m.mkdir("bob/closed", bob, daemonUser, 0o750)
	m.write("bob/closed/open", bob, bob, 0o644)
	m.mkdir("daemon", daemonUser, daemonUser, 0o755)
	m.check(os.Symlink(m.path("bob/secret"), m.path("alice/link")))
	m.check(os.Symlink(m.path("daemon"), m.path("alice/elsewhere")))
	m.check(os.Symlink(m.path("b"), m.path("alice/data")))

	t.Run("who is not in the group", func(t *testing.T) {
		m.t = t
		m.rejected("belongs to another user", eve, "--data", "a", "ls")
	})
	var link, tree string
	t.Run("seed", func(t *testing.T) {
		m.t = t
		link = m.works(alice, "--data", "a", "seed", "alice/x")
		tree = m.works(alice, "--data", "a", "seed", "alice/tree")
		for _, path := range []string{"bob/secret", "alice/link", "alice/mixed", "bob/closed", "bob/closed/open"} {
			m.rejected("permission denied", alice, "--data", "a", "seed", path)
		}
		m.rejected("data directory", alice, "--data", "a", "seed", "a/mobd.sock")
		m.rejected("data directory", alice, "--data", "a", "seed", "a/key")
		m.rejected("data directory", alice, "--data", "a", "seed", ".")
		m.works(daemonUser, "--data", "a", "seed", "bob/secret")
	})
	t.Run("skip unreadable", func(t *testing.T) {
		m.t = t
		m.rejected("cannot read "+m.path("alice/mixed/closed")+", "+m.path("alice/mixed/z")+": permission denied: `mob seed --skip-unreadable` leaves them out",
			alice, "--data", "a", "seed", "alice/mixed")
		status, mixed, text := m.mob(alice, "--data", "a", "seed", "alice/mixed", "--skip-unreadable")
		want := "left out, cannot be read: closed\nleft out, cannot be read: z\n" // after the progress on a slow machine
		if status != 0 || !strings.HasSuffix(text, want) {
			t.Errorf("status %d\n%s", status, text)
		}
		if out := m.works(alice, "--data", "a", "inspect", strings.TrimSpace(mixed), "--json"); !strings.Contains(out, `"y"`) || strings.Contains(out, `"z"`) {
			t.Errorf("the content is %s", out)
		}
		if out := m.works(alice, "--data", "a", "seed", "alice/mixed", "--skip-unreadable", "--json"); !strings.Contains(out, `"closed"`) {
			t.Errorf("--json prints %s", out)
		}
	})
	t.Run("see and change", func(t *testing.T) {
		m.t = t
		if out := m.works(bob, "--data", "a", "ls", "--json"); out != "[]" {
			t.Errorf("bob sees %s", out)
		}
		if out := m.works(alice, "--data", "a", "ls"); strings.Contains(out, "secret") || !strings.Contains(out, "alice/x") {
			t.Errorf("alice sees %s", out)
		}
		if out := m.works(daemonUser, "--data", "a", "ls"); !strings.Contains(out, "alice/x") {
			t.Errorf("the owner sees %s", out)
		}
		for _, of := range []string{link, m.path("alice/x")} {
			m.rejected("no such transfer", bob, "--data", "a", "rm", of)
			m.rejected("no such transfer", bob, "--data", "a", "verify", of)
			m.rejected("no such transfer", bob, "--data", "a", "export", of)
		}
		m.rejected("already at a path of another user", bob, "--data", "a", "get", link, "-o", "bob/x")
		m.rejected("already at a path of another user", bob, "--data", "a", "seed", "alice/x")
		// A path means the caller's own transfer, although another one was added later.
		m.write("alice/w", alice, alice, 0o644)
		m.works(bob, "--data", "a", "seed", "alice/w")
		m.check(os.WriteFile(m.path("alice/w"), []byte("newer"), 0o644))
		m.works(alice, "--data", "a", "seed", "alice/w")
		m.works(bob, "--data", "a", "rm", "alice/w")
		m.rejected("no such transfer", bob, "--data", "a", "rm", "alice/w")
		m.works(alice, "--data", "a", "rm", "alice/w")
		m.works(alice, "--data", "a", "verify", "alice/x")
		m.works(daemonUser, "--data", "a", "verify", "alice/x")
	})
	t.Run("get", func(t *testing.T) {
		m.t = t
		m.works(alice, "--data", "b", "get", link, "-o", "alice/copy")
		m.works(alice, "--data", "b", "get", tree, "-o", "alice/trees")
		if _, _, text := m.mob(alice, "--data", "b", "get", tree, "-o", "bob/closed/new/x"); !strings.Contains(text, "permission denied") {
			t.Errorf("a directory that she may not make: %s", text)
		}
		for _, c := range []struct{ got, want string }{{"alice/copy", "alice/x"}, {"alice/trees/y", "alice/tree/y"}} {
			got, err := os.ReadFile(m.path(c.got))
			if err != nil || string(got) != "content of "+c.want {
				t.Errorf("%s: %q, %v", c.got, got, err)
			}
		}
		m.works(daemonUser, "--data", "b", "verify", "alice/trees")
		m.write("bob/z", bob, bob, 0o644)
		other := m.works(bob, "--data", "a", "seed", "bob/z")
		m.check(os.Symlink(m.path("alice"), m.path("bob/way")))
		id := strings.TrimPrefix(strings.Split(tree, "&")[0], "magnet:?xt=urn:mob:")
		for _, c := range [][]string{
			{"get", other, "-o", "alice/trees"}, {"get", other, "-o", "alice/trees/y"}, {"get", other, "-o", "alice"},
			{"get", other, "-o", "bob/way/trees"}, {"get", other, "-o", "bob/way/trees/y"},
			{"get", tree, "-o", "bob/tree"}, {"seed", "alice/tree"}, {"seed", "alice/trees"}, {"seed", "alice"},
			{"rm", "alice/trees"}, {"rm", "bob/way/trees"}, {"rm", tree}, {"verify", "alice/trees"}, {"export", "alice/trees"},
			{"inspect", "alice/trees"}, {"status", "alice/trees"}, {"status", tree},
			{"limit", "--for", "alice/trees", "--wan-up", "1MB"},
			{"ls"}, {"ls", "--json"}, {"status", "--json"}, {"limit", "--json"},
		} {
			_, out, text := m.mob(bob, append([]string{"--data", "b"}, c...)...)
			given := strings.Join(c, " ")
			for _, hidden := range []string{id, "trees"} {
				if strings.Contains(out+text, hidden) && !strings.Contains(given, hidden) {
					t.Errorf("bob: mob %s shows %s of alice:\n%s%s", given, hidden, out, text)
				}
			}
		}
		m.works(alice, "--data", "b", "rm", link, "--content")
		m.works(alice, "--data", "b", "rm", tree, "--content")
		for _, name := range []string{"alice/copy", "alice/trees"} {
			if _, err := os.Lstat(m.path(name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v after the removal", name, err)
			}
		}
		m.write("alice/there", alice, alice, 0o666)
		m.rejected("only the owner", alice, "--data", "b", "get", link, "-o", "alice/there", "--reuse")
		m.rejected("only the owner", alice, "--data", "b", "get", link, "-o", "alice/new", "--priority", "high")
		for _, path := range []string{"bob/closed/x", "daemon/x", "alice/elsewhere/x"} {
			for _, l := range []string{link, tree} {
				m.rejected("permission denied", alice, "--data", "b", "get", l, "-o", path)
				m.mob(alice, "--data", "b", "rm", l)
			}
		}
		m.rejected("data directory", alice, "--data", "b", "get", link, "-o", "b/x")
		m.rejected("data directory", alice, "--data", "b", "get", link, "-o", "alice/data/x")
		m.rejected("data directory", alice, "--data", "b", "get", link, "-o", "b/transfers/x")
	})
}
