package fleet

import (
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// bin is the folder of the built programs, for all tests; set once, before any.
var bin string

func TestMain(m *testing.M) { os.Exit(main(m)) }

// atOnce is how many parallel tests run at a time, whatever the machine: they wait for
// links and for the timers of stock clients more than they compute.
const atOnce = "4"

func main(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "mob-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	build := exec.Command("go", "build", "-o", dir+"/", "../../cli/mob", "../../cli/mobd", "./testdata/faulty")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the programs do not build:", err)
		return 1
	}
	return m.Run()
}

// newFleet makes a grid of the first len(nodes) standard clusters, each with so
// many nodes, for the length of a test.
func newFleet(t testing.TB, links netns.Links, nodes ...int) (*Fleet, []string) {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	clusters := netns.Clusters(nodes...)
	var names []string
	for _, c := range clusters {
		names = append(names, c.Name)
	}
	grid, err := netns.New(netns.Config{Clusters: clusters, Links: links.Among(names...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := grid.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Fleet{Grid: grid, Bin: bin, Dir: t.TempDir()}, names
}

// content makes a file of n bytes that do not repeat.
func content(t testing.TB, n int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "content.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, rand.Reader, n); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
