package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/cli/clitest"
)

// service is a program under a service manager.
type service struct {
	*exec.Cmd
	*clitest.Manager
	out *bufio.Reader
}

// startService runs the test binary as mob or mobd.
func startService(t *testing.T, program string, args ...string) *service {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), program) // by this name the test binary is the program
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	s := &service{exec.Command(path, args...), clitest.NewManager(t), nil}
	s.Env = append(os.Environ(), "NOTIFY_SOCKET="+s.Socket(), "WATCHDOG_USEC=2000000")
	s.Stderr = os.Stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Process.Kill()
		_ = s.Wait()
	})
	return s
}

// unixClient returns a client of a server at a Unix socket.
func unixClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
}

// fetchLocal asks a server at a Unix socket.
func fetchLocal(t *testing.T, socket, path string) (status int, body string) {
	t.Helper()
	resp, err := unixClient(socket).Get("http://localhost" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestServices runs the daemon and a tracker as systemd does, and scrapes them.
func TestServices(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"mobd": {"--cluster", "geneva", "--listen", "/ip4/127.0.0.1/tcp/0", "--log-level", "warn"},
		"mob":  {"tracker", "--listen", "/ip4/127.0.0.1/tcp/0", "--log-level", "warn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := clitest.ShortDir(t)
			socket := filepath.Join(data, "h")
			s := startService(t, name, append(args, "--data", filepath.Join(data, "d"), "--http", "unix:"+socket)...)
			s.Await("READY=1")
			s.Await("WATCHDOG=1")
			if line, err := s.out.ReadString('\n'); err != nil || !strings.Contains(line, "/p2p/") {
				t.Errorf("%q, %v", line, err)
			}
			for _, path := range []string{"/healthz", "/readyz"} {
				if status, body := fetchLocal(t, socket, path); status != http.StatusOK || body != "ok\n" {
					t.Errorf("%s: %d %s", path, status, body)
				}
			}
			want := map[string]string{"mobd": `mob_node_info{cluster="geneva"`, "mob": `mob_tracker_entries{table="members"} 0`}[name]
			if status, body := fetchLocal(t, socket, "/metrics"); status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("metrics: %d %s", status, body)
			}
			if err := s.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			var us int64
			if lines := s.Await("RELOADING=1"); len(lines) != 2 {
				t.Errorf("%q", lines)
			} else if _, err := fmt.Sscanf(lines[1], "MONOTONIC_USEC=%d", &us); err != nil || us <= 0 {
				t.Errorf("%q: %v", lines, err)
			}
			s.Await("READY=1")
			if err := s.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			s.Await("STOPPING=1")
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
