// Package clitest has helpers for the tests of programs and commands.
package clitest

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/web"
)

// ShortDir returns a directory with a path short enough for sockets in it.
func ShortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mob")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Manager is systemd's side of notifications.
type Manager struct {
	t    *testing.T
	conn *net.UnixConn
}

// NewManager returns a manager that listens on a socket.
func NewManager(t *testing.T) *Manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(ShortDir(t), "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &Manager{t, conn}
}

// Socket returns the value of $NOTIFY_SOCKET.
func (m *Manager) Socket() string { return m.conn.LocalAddr().String() }

// Next returns the variables of the next notification.
func (m *Manager) Next() []string {
	m.t.Helper()
	b := make([]byte, 4096)
	_ = m.conn.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := m.conn.Read(b)
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Split(string(b[:n]), "\n")
}

// Await waits for a variable, and returns the notification.
func (m *Manager) Await(variable string) []string {
	m.t.Helper()
	for {
		if lines := m.Next(); slices.Contains(lines, variable) {
			return lines
		}
	}
}

// Pending empties the queue, and returns the number of notifications in it.
func (m *Manager) Pending() (n int) {
	m.t.Helper()
	raw, err := m.conn.SyscallConn()
	if err == nil {
		err = m.conn.SetReadDeadline(time.Time{})
	}
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			b := make([]byte, 4096)
			for {
				switch _, _, err := syscall.Recvfrom(int(fd), b, 0); err { // it does not block
				case nil:
					n++
				case syscall.EINTR:
				default:
					return true
				}
			}
		})
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// ServePage serves a page on a loopback address, and returns a function that reads an event of it. token is sent
// unless it is empty.
func ServePage(t *testing.T, register func(*web.Server)) (read func(detail, token string) string, token string) {
	t.Helper()
	s, err := web.Listen(web.Config{Listen: "127.0.0.1:0", Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	register(s)
	go func() { _ = s.Serve() }()
	t.Cleanup(func() { s.Close() })
	b, err := os.ReadFile(s.TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return func(detail, token string) string {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"events?detail="+url.QueryEscape(detail), nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewReader(resp.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(line, `data: {"id"`) {
				return line
			}
		}
	}, strings.TrimSpace(string(b))
}
