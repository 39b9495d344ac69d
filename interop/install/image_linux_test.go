package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestImage makes the container image and runs its programs with its layer as their root: they
// need nothing else.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the programs: not with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	dist := filepath.Join(scratch, "dist") // with the programs of the packages, if they were built
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "make", "-C", "../..", "image", "DIST="+dist, "VERSION=v0.0.1").CombinedOutput()
	if err != nil {
		t.Fatalf("make image: %v: %s", err, out)
	}
	image, root := t.TempDir(), t.TempDir()
	untar(t, filepath.Join(dist, "mob-image.tar"), image)
	blobs, err := filepath.Glob(filepath.Join(image, "blobs/sha256/*"))
	if err != nil || len(blobs) != 3 {
		t.Fatalf("blobs %v, %v; want manifest, config and layer", blobs, err)
	}
	for _, blob := range blobs {
		if info, err := os.Stat(blob); err == nil && info.Size() > 1<<20 {
			untar(t, blob, root)
		}
	}
	run := func(args string, env ...string) (string, error) {
		fields := strings.Fields(args)
		cmd := exec.CommandContext(ctx, fields[0], fields[1:]...)
		cmd.Path, cmd.Dir, cmd.Env, cmd.Err = fields[0], "/", append(env, "MOB_DATA=/var/lib/mob"), nil
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for args, want := range map[string]string{
		"/usr/bin/mob version":    "mob ",
		"/usr/bin/mobd --version": "mobd version",
		"/usr/bin/mob demo --nodes 1 --clusters 1 --size 1MB --data /var/lib/mob": "intact",
	} {
		if out, err := run(args); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
	// Time zones are in the programs: this one is accepted, so the next check fails.
	text, err := run("/usr/bin/mobd --cluster A --listen /ip4/127.0.0.1/tcp/0 --log-level loud", "TZ=Europe/Berlin")
	if err == nil || !strings.Contains(text, "unknown --log-level") {
		t.Errorf("with a time zone: %v: %s", err, text)
	}
}

func untar(t *testing.T, file, dir string) {
	t.Helper()
	if out, err := exec.Command("tar", "-xf", file, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
