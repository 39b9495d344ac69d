package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCreate checks that data directories are created, and rejected if other users can change them.
func TestCreate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(dir string) error
		want    string
	}{
		{"new", func(string) error { return nil }, ""},
		{"readable", func(dir string) error { return os.Mkdir(dir, 0o755) }, ""},
		{"writable by the group", func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770))
		}, "can be changed by other users (mode 0770): `chmod go-w "},
		{"writable by all", func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777))
		}, "can be changed by other users (mode 0777)"},
		{"of another user", func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, -1))
		}, "belongs to user 12345"},
		{"a file", func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if err := c.prepare(dir); err != nil {
				t.Skip(err) // only root may give files away
			}
			check(t, Create(dir), c.want)
		})
	}
}

// TestForeignKey checks that keys are rejected if other users can read them.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(path string) error
		want   string
	}{
		{"untouched", func(string) error { return nil }, ""},
		{"readable by all", func(path string) error { return os.Chmod(path, 0o644) }, "can be read by other users (mode 0644)"},
		{"readable by the group", func(path string) error {
			return errors.Join(os.Chmod(path, 0o640), os.Chown(path, -1, max(os.Getgid(), 1)))
		}, "or remove it to get a new identity"},
		{"of another user", func(path string) error { return os.Chown(path, 12345, -1) }, "belongs to user 12345"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := LoadKey(dir); err != nil {
				t.Fatal(err)
			}
			if err := c.change(filepath.Join(dir, keyFile)); err != nil {
				t.Skip(err)
			}
			_, err := LoadKey(dir)
			check(t, err, c.want)
		})
	}
}

// TestSecretFromSystemd reads a secret with the owner and the mode of a credential of a service: see LoadCredential= in
// systemd.exec(5).
func TestSecretFromSystemd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := errors.Join(os.WriteFile(path, []byte("secret"), 0o600), os.Chown(path, 0, 0)); err != nil {
		t.Skip(err) // only root may
	}
	for mode, want := range map[os.FileMode]string{
		0o400: "", 0o440: "", 0o444: "can be read by other users", 0o460: "can be read by other users",
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSecret(path)
		check(t, err, want)
	}
}

// check checks that an error has a text, or that there is none if the text is empty.
func check(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil && text != "" || err != nil && (text == "" || !strings.Contains(err.Error(), text)) {
		t.Errorf("error %v, want %q", err, text)
	}
}
