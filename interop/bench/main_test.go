package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// programs is the directory of the built programs, which TestMain makes and removes.
var programs string

var givenPrograms = flag.String("programs", "", "directory of mob and mobd, which are run instead of those that are built")

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

// atOnce is the number of tests that run in parallel on any machine: they wait for links and
// for the timers of stock clients two thirds of the time.
const atOnce = "8"

func runAll(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	programs, err = os.MkdirTemp("", "mob-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	return m.Run()
}

// The programs are built on the first call.
var (
	buildMob    = sync.OnceValue(buildOrLink)
	buildFaulty = sync.OnceValue(func() error { return build("./testdata/faulty") })
)

// buildOrLink builds the programs, or links to given ones.
func buildOrLink() error {
	if *givenPrograms == "" {
		return build("../../cli/mob", "../../cli/mob-agent", "../../cli/mobd")
	}
	for _, name := range []string{"mob", "mobd"} {
		if err := os.Symlink(filepath.Join(*givenPrograms, name), filepath.Join(programs, name)); err != nil {
			return err
		}
	}
	return nil
}

func build(packages ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-o", programs + "/"}, packages...)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// bin is the directory of the built programs mob and mobd.
func bin(t testing.TB) string {
	t.Helper()
	if err := buildMob(); err != nil {
		t.Fatal("the programs do not build: ", err)
	}
	return programs
}

// faultyBin is bin with the program faulty.
func faultyBin(t testing.TB) string {
	t.Helper()
	if err := buildFaulty(); err != nil {
		t.Fatal("the faulty daemon does not build: ", err)
	}
	return bin(t)
}

// needsGrid skips a test that needs a grid, in short mode or where there is none.
func needsGrid(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	needsNamespaces(t)
}

func needsNamespaces(t testing.TB) {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
}

// needsClients skips a test whose stock clients are not installed.
func needsClients(t testing.TB, clients ...*stock.Client) {
	t.Helper()
	for _, c := range clients {
		if err := c.Missing(); err != nil {
			t.Skip(err)
		}
	}
}

// eachClient runs a test with each stock client that is installed.
func eachClient(t *testing.T, test func(t *testing.T, c *stock.Client)) {
	t.Helper()
	for _, c := range stock.All() {
		t.Run(c.Name(), func(t *testing.T) {
			needsClients(t, c)
			test(t, c)
		})
	}
}
