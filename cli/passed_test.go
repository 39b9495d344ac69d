package cli

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/cli/clitest"
	"github.com/mobgrid/mob/cli/control"
)

// TestSocketPassed starts daemons with a control socket that is open already, as systemd does.
func TestSocketPassed(t *testing.T) {
	t.Parallel()
	data := clitest.ShortDir(t)
	ln := listenUnix(t, filepath.Join(data, control.SocketName))
	before, err := os.Lstat(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second takes over the socket of the first
		d := startPassed(t, data, ln)
		if line, err := d.ready(); err != nil || !strings.HasPrefix(line, "ready ") {
			t.Fatalf("%q, %v: %s", line, err, d.errs)
		}
		c, err := control.Dial(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		if c.Info.PID != d.Process.Pid {
			t.Errorf("process %d answers, want %d", c.Info.PID, d.Process.Pid)
		}
		if err := d.stop(); err != nil {
			t.Errorf("%v: %s", err, d.errs)
		}
	}
	after, err := os.Lstat(ln.Addr().String())
	if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("the daemons changed the socket: %v, then %v, %v", before, after, err)
	}
}

// TestSocketPassedWrong passes sockets where no command would find the daemon.
func TestSocketPassedWrong(t *testing.T) {
	t.Parallel()
	data := clitest.ShortDir(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	here, elsewhere := listenUnix(t, filepath.Join(data, control.SocketName)), listenUnix(t, filepath.Join(data, "x"))
	for want, passed := range map[string][]net.Listener{
		"correct ListenStream= of mobd.socket":   {elsewhere},
		"and commands look for " + data:          {tcp},
		"give mobd.socket a single ListenStream": {here, elsewhere},
	} {
		d := startPassed(t, data, passed...)
		if line, err := d.ready(); err == nil {
			t.Errorf("it started: %s", line)
			_ = d.Process.Kill()
		}
		if err := d.Wait(); err == nil || !strings.Contains(d.errs.String(), want) {
			t.Errorf("%v: %s; want %q", err, d.errs, want)
		}
	}
}

// passedDaemon is a mobd that was started with sockets.
type passedDaemon struct {
	*exec.Cmd
	out  *bufio.Reader
	errs *strings.Builder
}

func startPassed(t *testing.T, data string, sockets ...net.Listener) *passedDaemon {
	t.Helper()
	mobd := filepath.Join(t.TempDir(), "mobd") // by this name the test binary is mobd
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, mobd); err != nil {
		t.Fatal(err)
	}
	// The shell becomes the daemon, whose process id it knows.
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh",
		mobd, "--cluster", "A", "--listen", "/ip4/127.0.0.1/tcp/0", "--data", data)
	cmd.Env = append(os.Environ(), fmt.Sprintf("LISTEN_FDS=%d", len(sockets)))
	for _, s := range sockets {
		f, err := s.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	d := &passedDaemon{Cmd: cmd, errs: new(strings.Builder)}
	cmd.Stderr = d.errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return d
}

// ready waits for the daemon's first line.
func (d *passedDaemon) ready() (string, error) { return d.out.ReadString('\n') }

func (d *passedDaemon) stop() error {
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.Wait()
}

// listenUnix opens a socket that the test keeps, with a mode that a daemon would not give it.
func listenUnix(t *testing.T, path string) net.Listener {
	t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	return ln
}
