package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/cli/command"
)

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
