package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitTimeout bounds each wait of a test. It only ends hangs: a busy machine may take long.
const waitTimeout = 3 * time.Minute

// noSleep prevents that agents with the race detector sleep for a second before they exit.
const noSleep = "GORACE=atexit_sleep_ms=0"

// site is a directory in which each host has a home and a place for temporary files.
type site struct {
	testing.TB
	dir  string
	path string // $PATH on the hosts
}

func newSite(t testing.TB) *site {
	t.Helper()
	return &site{t, t.TempDir(), os.Getenv("PATH")}
}

// shell returns a remote shell: as sshd does, it has the login shell run a command line. begin are commands
// before that.
func (s *site) shell(login, begin string) Shell {
	return Shell{"sh", "-c", s.login(login, begin), "rsh"}
}

func (s *site) login(shell, begin string) string {
	return `H="` + s.dir + `/$1"; mkdir -p "$H/home" "$H/tmp"; cd "$H/home"; ` + begin + `
		exec env -i PATH="` + s.path + `" HOME="$H/home" TMPDIR="$H/tmp" ` + noSleep + ` ` + shell + ` -c "$2"`
}

// counting is a remote shell that records in the file of sent the bytes that went to a host.
func (s *site) counting() Shell {
	return Shell{"sh", "-c", `tee "` + s.dir + `/$1.sent" | { ` + s.login("/bin/sh", "") + `; }`, "rsh"}
}

// messages returns the bytes that a host was sent after the name of its directory.
func (s *site) messages(host string) []byte {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, host+".sent"))
	if err != nil {
		s.Fatal(err)
	}
	_, messages, _ := bytes.Cut(b, []byte("\n"))
	return messages
}

// sent reports whether the remote shell delivered the archive to a host.
func (s *site) sent(host string) bool {
	s.Helper()
	return bytes.HasPrefix(s.messages(host), []byte("put "))
}

// launcher returns a launcher for the hosts.
func (s *site) launcher(ps *Programs) *Launcher {
	return New(Config{Shell: s.shell("/bin/sh", ""), Programs: ps})
}

// tools gives the hosts a $PATH with what every system has, and these programs, only.
func (s *site) tools(names ...string) {
	s.Helper()
	s.path = s.TempDir()
	names = append(names, "sh", "cat", "chmod", "cp", "dd", "df", "env", "grep", "head", "ls", "mkdir", "mv", "rm", "uname")
	for _, name := range names {
		if err := os.Symlink(needs(s, name), filepath.Join(s.path, name)); err != nil {
			s.Fatal(err)
		}
	}
}

// needs returns the path of a program, without which it skips the test.
func needs(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// fake puts a script before the programs of the hosts.
func (s *site) fake(name, script string) {
	s.Helper()
	dir := s.TempDir()
	s.write(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"))
	s.path = dir + ":" + s.path
}

// write makes a file that can be executed.
func (s *site) write(path string, b []byte) {
	s.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), writeProgram(path, b)); err != nil {
		s.Fatal(err)
	}
}

// writeProgram writes a file that can be executed right away: no child of another test has it open.
func writeProgram(path string, b []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, b, 0o755)
}

// start starts the program on a host and ends it with the test.
func (s *site) start(c *Launcher, host string) *Process {
	s.Helper()
	p, err := c.Start(s.Context(), host, "A", noNote)
	if err != nil {
		s.Fatalf("%s: %v", host, err)
	}
	s.Cleanup(func() { s.finish(p) })
	return p
}

// fails checks that it fails to start the program on a host, of which nothing remains.
func (s *site) fails(c *Launcher, host, want string) {
	s.Helper()
	p, err := c.Start(s.Context(), host, "A", noNote)
	if err == nil {
		s.finish(p)
		s.Fatal("it started")
	}
	if err.Error() != want {
		s.Errorf("error %q, want %q", err, want)
	}
	s.empty(host)
}

// finish ends a program and waits for it.
func (s *site) finish(p *Process) {
	s.Helper()
	p.CloseStdin()
	for {
		if _, err := p.Next(); err != nil {
			break
		}
	}
	p.Kill()
	p.Wait()
}

// ask has the program answer.
func (s *site) ask(p *Process, text string) echo {
	s.Helper()
	if err := p.Send(text); err != nil {
		s.Fatal(err)
	}
	record, err := p.Next()
	if err != nil {
		status, line := p.Wait()
		s.Fatalf("no answer: status %d: %s", status, line)
	}
	var e echo
	if err := json.Unmarshal(record, &e); err != nil || string(e.Echo) != strconv.Quote(text) {
		s.Fatalf("the answer to %q is %s", text, record)
	}
	return e
}

// files returns the files on a host.
func (s *site) files(host string) []string {
	s.Helper()
	var files []string
	root := filepath.Join(s.dir, host)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err == nil && (!d.IsDir() || strings.Contains(name, dirPrefix)) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return files
}

// empty waits until nothing is on a host.
func (s *site) empty(host string) {
	s.Helper()
	for end := time.Now().Add(waitTimeout); ; time.Sleep(10 * time.Millisecond) {
		files := s.files(host)
		if len(files) == 0 {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("on %s remains %q", host, files)
		}
	}
}
