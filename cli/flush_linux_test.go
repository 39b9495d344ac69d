package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// smallDisk mounts a file system of 64 MB on a device that takes less: writes succeed, and the flush
// fails.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	under, dir := t.TempDir(), t.TempDir()
	if err := syscall.Mount("none", under, "tmpfs", 0, "size=6m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(under, syscall.MNT_DETACH) })
	image := filepath.Join(under, "image")
	for _, command := range [][]string{
		{"truncate", "-s", "64M", image},
		{"mkfs.ext4", "-q", "-O", "^has_journal", image},
		{"mount", "-o", "loop", image, dir},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", strings.Join(command, " "), err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	return dir
}

// TestGetOnFailingDisk checks that a get without a daemon fails if the disk loses the last, verified piece.
func TestGetOnFailingDisk(t *testing.T) {
	disk := smallDisk(t)
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 12<<20, peer.SeedOptions{})
	var out, log bytes.Buffer
	data := filepath.Join(t.TempDir(), "data")
	status := Mob(&command.Env{
		Args: []string{"get", link.String(), "-o", filepath.Join(disk, "out"), "--data", data, "--listen", "/ip4/127.0.0.1/tcp/0"},
		Out:  &out, Err: &log, Getenv: os.Getenv,
	})
	if status != command.ExitFailed || out.Len() > 0 || !strings.Contains(log.String(), "disk") {
		t.Errorf("exit status %d, output %q, errors %q", status, out.String(), log.String())
	}
}
