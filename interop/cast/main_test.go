package cast

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// programs is the directory of the built programs, which TestMain makes and removes.
var programs string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

// parallel is the number of tests that run at a time: they wait for links and processes most of the time.
const parallel = "8"

func runAll(m *testing.M) int {
	err := flag.Set("test.parallel", parallel)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	programs, err = os.MkdirTemp("", "mob-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	return m.Run()
}

// build builds the programs, on the first call.
var build = sync.OnceValue(func() error {
	cmd := exec.Command("go", "build", "-o", programs+"/", "../../cli/mob", "../../cli/mob-agent")
	cmd.Stderr = os.Stderr
	return cmd.Run()
})
