package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLateTimers looks at the timer slack of an agent.
func TestLateTimers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.start(s.launcher(absent(t)), "n1")
	path := fmt.Sprintf("/proc/%d/timerslack_ns", s.ask(p, "one").Pid)
	slack, err := os.ReadFile(path)
	if os.IsPermission(err) {
		t.Skip(err)
	}
	if got := strings.TrimSpace(string(slack)); got != "2000000" {
		t.Errorf("%s: %q, %v; want 2 ms", path, got, err)
	}
	s.finish(p)
}
