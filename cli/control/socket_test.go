package control

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// TestSocketMode opens the control socket repeatedly with an empty umask, and looks for a mode that lets
// other users connect.
func TestSocketMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	data, err := os.MkdirTemp("", "mob") // short, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(data)
	path := filepath.Join(data, SocketName)
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if fi, err := os.Lstat(path); err == nil && fi.Mode().Perm()&0o077 != 0 {
				t.Errorf("the socket has the mode %04o", fi.Mode().Perm())
				return
			}
		}
	})
	for range 300 {
		ln, err := Listen(data, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	looking.Wait()
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
