package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer/datadir"
)

// address is the address of a server.
type address struct {
	path       string // of a Unix socket, else empty
	host, port string
}

func (a address) unix() bool { return a.path != "" }

// loopback reports whether only this machine can reach the address.
func (a address) loopback() bool {
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(a.host, "localhost")
}

// CheckAddress checks the form of an address to listen on.
func CheckAddress(listen string) error {
	_, err := parseAddress(listen)
	return err
}

func parseAddress(listen string) (a address, err error) {
	if path, ok := strings.CutPrefix(listen, "unix:"); ok {
		a.path, err = filepath.Abs(path)
		if path == "" || err != nil {
			return a, fmt.Errorf("cannot listen on %q: give unix:PATH", listen)
		}
		return a, nil
	}
	a.host, a.port, err = net.SplitHostPort(listen)
	if _, e := net.LookupPort("tcp", a.port); err != nil || e != nil || a.port == "" {
		return a, fmt.Errorf("cannot listen on %q: give ADDR:PORT such as 127.0.0.1:8080, or unix:PATH", listen)
	}
	return a, nil
}

func listen(a address) (net.Listener, error) {
	if a.unix() {
		ln, err := listenUnix(a.path)
		if err != nil {
			return nil, fmt.Errorf("cannot listen on unix:%s: %w", a.path, err)
		}
		return ln, nil
	}
	at := net.JoinHostPort(a.host, a.port)
	ln, err := net.Listen("tcp", at) // localhost has an address of each family, and only the first is listened on
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens on %s already: choose another port", at)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", at, err)
	}
	return ln, nil
}

// listenUnix binds a socket that only its owner can open, and replaces a stale one.
func listenUnix(path string) (net.Listener, error) {
	if err := checkStale(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".h")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return datadir.ListenUnix(path, dir, nil)
}

// checkStale fails if the path of a socket exists, unless it is a socket without a listener.
func checkStale(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.Mode().Type() != os.ModeSocket {
		return errors.New("the path exists and is not a socket: move it away")
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
		return errors.New("another program listens there already")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return nil
}

// sendBuffer bounds the unread bytes of a client in the kernel.
const sendBuffer = 64 << 10

// limitBuffer bounds the unread bytes of a connection. On failure a client that reads nothing is dropped later.
func limitBuffer(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*quota.Conn).Conn.(*net.TCPConn); ok {
		_ = t.SetWriteBuffer(sendBuffer)
	}
	return ctx
}
