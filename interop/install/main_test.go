package install

import (
	"fmt"
	"os"
	"testing"
)

// scratch is a directory of all tests, which TestMain makes and removes.
var scratch string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	var err error
	scratch, err = os.MkdirTemp("", "mob-install-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}
