//go:build !race

package cast

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/cast/launch"
)

// floodTime is the duration of the flood in TestFlood.
var floodTime = flag.Duration("flood", time.Second, "how long TestFlood floods a caster, with 100 hosts if that is longer than a second")

// maxFloodCost bounds the memory in bytes that flooding hosts may cost the caster.
const maxFloodCost = 100 << 20

// TestFlood checks that hosts that send reports without pause cost the caster at most 100 MiB, and that another host
// gets the content.
func TestFlood(t *testing.T) {
	flooders := 20
	if *floodTime > time.Second {
		flooders = 100
	}
	names := hostNames(flooders)
	g := newGrid(t, append(names, "honest")...)
	long := strings.Repeat("x", 50_000)
	floods := []string{
		fmt.Sprintf("\x1e"+`{"progress":{"bytes":1,"waiting":"%s"}}`+"\n", long),
		fmt.Sprintf("\x1e"+`{"output":"%s"}`+"\n", long),
		"\x1e" + `{"hello":{"platform":"linux/amd64"}}` + "\n",
		"\x1e" + long, // without end
		"\x1e" + readyReport(launch.MaxAddrs) + "\n",
	}
	for i, name := range names {
		path := filepath.Join(g.root, fmt.Sprint("flood", i))
		g.write(path, strings.Repeat(floods[i%len(floods)], 20))
		g.onLogin(name, `printf '\036{"hello":{"platform":"linux/amd64"}}\n'; read -r name; read -r start; while cat '`+path+`'; do :; done`)
	}
	src, content := randomFile(t, "src", 1<<20)
	p := g.startCaster(testCast{Config: g.config(src, append(names, "honest")...)})
	most, done := 0, false
	for end := time.Now().Add(*floodTime); !done || time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		most = max(most, rss(t, p.Process.Pid))
		if !done && exists(g.home("honest", "src")) {
			p.await(t, Done, "honest")
			done = true
		}
	}
	must(t, p.Process.Signal(syscall.SIGINT))
	_ = p.Wait()
	g.checkFile(content, g.home("honest", "src"))
	t.Logf("the caster had %d MiB at most", most>>20)
	if most > maxFloodCost {
		t.Errorf("the caster had %d MiB, want at most %d", most>>20, maxFloodCost>>20)
	}
}

// rss returns the resident memory of a process, in bytes.
func rss(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after + " 0")[0])
	must(t, err)
	return kib << 10
}
