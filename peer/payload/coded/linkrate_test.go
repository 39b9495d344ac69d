package coded

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// iface adds an interface to a directory like the one of Linux. If speed is empty, reading it fails.
func iface(t *testing.T, dir, name, state, speed string) {
	t.Helper()
	at := filepath.Join(dir, name)
	err := errors.Join(os.Mkdir(at, 0o755), os.WriteFile(filepath.Join(at, "operstate"), []byte(state+"\n"), 0o600))
	if speed == "" {
		err = errors.Join(err, os.Mkdir(filepath.Join(at, "speed"), 0o755))
	} else {
		err = errors.Join(err, os.WriteFile(filepath.Join(at, "speed"), []byte(speed+"\n"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLinkRate(t *testing.T) {
	dir := t.TempDir()
	if got := linkRate(filepath.Join(dir, "no such directory")); got != assumedRate {
		t.Errorf("%v without interfaces", got)
	}
	iface(t, dir, "br0", "up", "-1")
	iface(t, dir, "tun0", "up", "")
	iface(t, dir, "eth9", "down", "100000")
	iface(t, dir, "eth8", "up", "fast")
	if got := linkRate(dir); got != assumedRate {
		t.Errorf("%v without a speed", got)
	}
	iface(t, dir, "eth0", "up", "10000")
	iface(t, dir, "eth1", "up", "2500")
	if got := linkRate(dir); got != 1.25e9 {
		t.Errorf("%v, want 1.25 GB/s", got)
	}
}
