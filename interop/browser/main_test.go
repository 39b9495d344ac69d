package browser

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

var screens = flag.String("screens", "", "directory for screenshots; none by default")

// namespaced says that this process is the one in its own network namespace.
const namespaced = "MOB_BROWSER_NAMESPACED"

// loopbackRate is the rate of the loopback device, so that there is time to look at a transfer. It has
// the traffic of all nodes, and of the browser.
const loopbackRate = "96mbit"

// TestMain runs the tests in a network namespace with a slow loopback device.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv(namespaced) != "" {
		for _, args := range [][]string{
			{"ip", "link", "set", "lo", "up"},
			{"tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", loopbackRate, "burst", "256kb", "latency", "60ms"},
		} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "%v: %v\n%s", args, err, out)
				os.Exit(1)
			}
		}
		os.Exit(m.Run())
	}
	if missing() != "" {
		os.Exit(m.Run()) // the tests report the missing program
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("unshare", append([]string{"--net", self}, os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), namespaced+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// missing returns what the tests need and is not there, empty if nothing.
func missing() string {
	if chromium() == "" {
		return "chromium: `.ci/install all` installs it"
	}
	for _, program := range []string{"unshare", "ip", "tc"} {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	if err := exec.Command("unshare", "--net", "true").Run(); err != nil {
		return "root, for a network namespace"
	}
	return ""
}

// chromium returns the path of a browser, empty if there is none.
func chromium() string {
	for _, name := range []string{"chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
