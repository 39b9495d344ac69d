//go:build !race

package cli

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var pipeSize = flag.Int64("pipe", 400e6, "bytes of the pipe of TestPipeMemory")

// peakMemory returns the most memory that a process took, in bytes. Its rusage counts the memory of the test before exec, too.
func peakMemory(t *testing.T, pid int) (n int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(after, "%d kB", &n); err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// TestPipeMemory seeds and gets a pipe in less than 300 MB of memory. Killed commands leave nothing of it on the disk.
// With -pipe 4000000000 it is the case of 4 GB.
func TestPipeMemory(t *testing.T) {
	const most = 300e6
	source := func() io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{}), *pipeSize) }
	dirs := [2]string{t.TempDir(), t.TempDir()}
	start := func(i int, arg ...string) (*exec.Cmd, io.Reader) {
		cmd := exec.Command("mob", append(arg, "--data", dirs[i], "--listen", "/ip4/127.0.0.1/tcp/0", "--quiet")...)
		out, err := cmd.StdoutPipe()
		if i == 0 {
			cmd.Stdin = source()
		}
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd, out
	}
	seed, out := start(0, "seed", "-")
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	get, out := start(1, "get", strings.TrimSpace(link), "-o", "-", "--stay")
	want, got := sha256.New(), sha256.New()
	if _, err := io.CopyN(got, out, *pipeSize); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(want, source()); err != nil || string(got.Sum(nil)) != string(want.Sum(nil)) {
		t.Errorf("the bytes differ, %v", err)
	}
	for _, cmd := range []*exec.Cmd{seed, get} {
		peak := peakMemory(t, cmd.Process.Pid)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		t.Logf("%s took %d MB of memory", cmd.Args[1], peak/1e6)
		if peak > most {
			t.Errorf("%s took %d bytes of memory, at most %.0f", cmd.Args[1], peak, most)
		}
	}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 1000 {
				t.Errorf("%s has %d bytes", path, info.Size())
			}
			return nil
		})
	}
}
