package install

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/clitest"
)

// last is the commit of the version before this one.
const last = "bfc6d79"

// versions builds the programs of this version and of the last, once, and returns their directories.
var versions = sync.OnceValues(func() (dirs [2]string, err error) {
	src := filepath.Join(scratch, "src")
	dirs = [2]string{filepath.Join(scratch, "this"), filepath.Join(scratch, "last")}
	for _, c := range []struct {
		dir  string
		args []string
	}{
		{"", []string{"sh", "-c", `mkdir "$1" && git -C ../.. archive "$2" | tar -x -C "$1"`, "sh", src, last}},
		{"../..", []string{"go", "build", "-buildvcs=false", "-o", dirs[0] + "/", "./cli/mob", "./cli/mobd"}},
		{src, []string{"go", "build", "-buildvcs=false", "-o", dirs[1] + "/", "./cli/mob", "./cli/mobd"}},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir = c.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return dirs, fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, out)
		}
	}
	return dirs, nil
})

// buildVersions returns the directories of the programs of this version and of the last.
func buildVersions(t *testing.T) (now, then string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds another version: not with -short")
	}
	if out, err := exec.Command("git", "cat-file", "-e", last+"^{commit}").CombinedOutput(); err != nil {
		t.Skipf("the last version is not here, as in a shallow clone: %v: %s", err, out)
	}
	dirs, err := versions()
	if err != nil {
		t.Fatal(err)
	}
	return dirs[0], dirs[1]
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// TestLastVersion makes a node of this version and one of the last exchange content in both
// directions, through trackers of either version, and each daemon take the commands of the
// other version.
func TestLastVersion(t *testing.T) {
	now, then := buildVersions(t)
	names := map[string]string{now: "this", then: "last"}
	for _, server := range []string{now, then} {
		tracker := startProgram(t, filepath.Join(server, "mob"), "tracker", "--listen", "/ip4/127.0.0.1/tcp/0")
		node := func(programs, cluster string) *program {
			return startProgram(t, filepath.Join(programs, "mobd"), "--cluster", cluster,
				"--listen", "/ip4/127.0.0.1/tcp/0", "--tracker", tracker.line)
		}
		nodes := map[string]*program{now: node(now, "A"), then: node(then, "B")}
		for _, from := range []string{now, then} {
			to := now
			if from == now {
				to = then
			}
			name := fmt.Sprintf("%s to %s, tracker of %s", names[from], names[to], names[server])
			transferBetween(t, name, from, nodes[from], to, nodes[to])
			if server == then {
				continue
			}
			transferBetween(t, name+", coded", from, nodes[from], to, nodes[to], "--coded=8")
			transferBetween(t, name+", torrent", from, nodes[from], to, nodes[to], "--torrent")
			// The same daemons by the commands of the other version.
			transferBetween(t, name+", commands swapped", to, nodes[from], from, nodes[to])
			for programs, n := range map[string]*program{to: nodes[from], from: nodes[to]} {
				for _, args := range [][]string{{"ls"}, {"status"}, {"status", "--json"}} {
					run(t, "", append([]string{filepath.Join(programs, "mob"), "--data", n.data}, args...)...)
				}
			}
		}
		for _, n := range nodes {
			n.end()
		}
		tracker.end()
	}
}

// transferBetween seeds a new content at one node and gets it at another, by commands of the
// given directories.
func transferBetween(t *testing.T, name, seeder string, from *program, getter string, to *program, options ...string) {
	t.Helper()
	dir := t.TempDir()
	content := make([]byte, 3<<20)
	_, _ = rand.Read(content)
	path, copied := filepath.Join(dir, "content"), filepath.Join(dir, "copy")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	link := run(t, "", append([]string{filepath.Join(seeder, "mob"), "--data", from.data, "seed", path}, options...)...)
	run(t, "", filepath.Join(getter, "mob"), "--data", to.data, "get", link, "-o", copied)
	if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%s: the copy is another one, %v", name, err)
	}
	run(t, "", filepath.Join(getter, "mob"), "--data", to.data, "rm", link)
}

// TestLastVersionDirectory checks that this version takes over the data directory of the last one without
// hashing, and the last one the directory of this version.
func TestLastVersionDirectory(t *testing.T) {
	now, then := buildVersions(t)
	for _, order := range [][]string{{then, now}, {now, then}} {
		dir := t.TempDir()
		content := make([]byte, 3<<20)
		_, _ = rand.Read(content)
		path, copied := filepath.Join(dir, "content"), filepath.Join(dir, "copy")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		data := clitest.ShortDir(t)
		start := func(programs string) *program {
			return startIn(t, data, filepath.Join(programs, "mobd"), "--cluster", "A", "--listen", "/ip4/127.0.0.1/tcp/0")
		}
		source := startProgram(t, filepath.Join(now, "mobd"), "--cluster", "B", "--listen", "/ip4/127.0.0.1/tcp/0")
		mob := filepath.Join(now, "mob")
		link := run(t, "", mob, "--data", source.data, "seed", path)
		old := start(order[0])
		run(t, "", mob, "--data", data, "get", link, "-o", copied)
		old.end()
		renewed := start(order[1])
		status := func() string { return run(t, "", mob, "--data", data, "status", link) }
		// The last version does not read the journal of this one: it hashes the copy.
		end := time.Now().Add(time.Minute)
		for out := ""; !strings.Contains(out, "complete"); time.Sleep(10 * time.Millisecond) {
			out = status()
			if order[1] == now && strings.Contains(out, "checking") || time.Now().After(end) {
				t.Fatalf("after the other version: %s", out)
			}
		}
		run(t, "", mob, "--data", data, "verify", copied)
		renewed.end()
		source.end()
	}
}

// program is a running daemon or tracker.
type program struct {
	t    *testing.T
	cmd  *exec.Cmd
	data string
	line string // address
	errs bytes.Buffer
}

func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	return startIn(t, clitest.ShortDir(t), args...)
}

// startIn starts a program with a data directory, and waits for the line with its address.
func startIn(t *testing.T, data string, args ...string) *program {
	t.Helper()
	p := &program{t: t, data: data, cmd: exec.Command(args[0], append(args[1:], "--data", data)...)}
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.end()
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, p.errs.String())
	}
	p.line = strings.TrimPrefix(strings.TrimSpace(line), "ready ")
	return p
}

func (p *program) end() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
		defer timer.Stop()
		_ = p.cmd.Wait()
	}
}
