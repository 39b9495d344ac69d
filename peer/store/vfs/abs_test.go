package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAbsAboveLink checks that ".." after a symbolic link leads where it leads for other programs.
func TestAbsAboveLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"here", "there/below"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "here", "link")
	if err := os.Symlink(filepath.Join(dir, "there", "below"), link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link) // PWD has the name of the link
	for path, want := range map[string]string{
		"x":                        "here/link/x",
		"../x":                     "there/x",
		"..":                       "there",
		"../../x/":                 "x",
		"..x/y..":                  "here/link/..x/y..",
		link + "/../x":             "there/x",
		link + "/../below/.././x":  "there/x",
		link + "/x":                "here/link/x",
		link + "/new/../x":         "here/link/x",
		link + "/new/dir/../../..": "there",
	} {
		if got, err := Abs(path); got != filepath.Join(dir, want) || err != nil {
			t.Errorf("Abs(%q) = %q, %v, want %s", path, got, err, want)
		}
	}
}
