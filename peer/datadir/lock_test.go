//go:build unix

package datadir

import (
	"os"
	"os/exec"
	"testing"
)

// A process that was started while the directory was locked has its file: after a fork, until the exec.
func TestLockEndsWithClose(t *testing.T) {
	dir := t.TempDir()
	l, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil {
		t.Error("the directory was locked twice")
	}
	child := exec.Command("sleep", "60")
	child.ExtraFiles = []*os.File{l.(lock).File}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
