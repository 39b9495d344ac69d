package netns

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test binary runs itself again in these roles.
const roleVariable = "MOB_NETNS_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "sleep":
		time.Sleep(time.Hour)
	case "own":
		err = ownGrid()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// roleCommand runs the test binary in a role, at most until the test ends.
func roleCommand(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// newGrid makes a grid for a test, and checks that it leaves nothing in the test's namespace.
func newGrid(t testing.TB, c Config) *Grid {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
	before := interfaces(t)
	start := time.Now()
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("grid built in %v", time.Since(start))
	if during := interfaces(t); during != before {
		t.Errorf("interfaces of the test changed from %s to %s", before, during)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if after := interfaces(t); after != before {
			t.Errorf("interfaces of the test changed from %s to %s", before, after)
		}
	})
	return g
}

// interfaces lists the interfaces of the test's own namespace.
func interfaces(t testing.TB) string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range all {
		names = append(names, fmt.Sprint(i.Index, i.Name))
	}
	return strings.Join(names, ",")
}
