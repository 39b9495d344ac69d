package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/cli/command"
)

// TestPipeWithoutReader checks that a write to a named pipe waits 10 s for a reader, and then fails.
func TestPipeWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	env := &command.Env{Out: new(bytes.Buffer)}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := env.Overwrite(path, []byte("x"))
		if took := time.Since(began); err == nil || took < 10*time.Second || took > 11*time.Second {
			t.Errorf("Overwrite returned %v after %v", err, took)
		}
		got := make(chan []byte)
		go func() {
			time.Sleep(time.Second)
			f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second) // the write follows
			b := make([]byte, 2)
			n, _ := f.Read(b)
			got <- b[:n]
		}()
		if err := env.Overwrite(path, []byte("x")); err != nil {
			t.Error(err)
		}
		if b := <-got; string(b) != "x" {
			t.Errorf("the reader got %q", b)
		}
	})
}

// TestOverwriteReplaced replaces a file after it was looked at. The new file keeps its bytes.
func TestOverwriteReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	env := &command.Env{Out: new(bytes.Buffer)}
	write := func(to, text string) {
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "old and long")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.OverwriteFile(path, info, []byte("new")); err != nil {
		t.Fatal(err)
	}
	write(path+"2", "mine")
	if err := os.Rename(path+"2", path); err != nil {
		t.Fatal(err)
	}
	if err := env.OverwriteFile(path, info, []byte("newer")); err == nil {
		t.Error("a file that was replaced is written to")
	}
	if b, err := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("the file has %q, %v", b, err)
	}
}
