package agent

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTimerSlack starts a command from a thread whose timers may be late.
func TestTimerSlack(t *testing.T) {
	slack := make(chan string)
	go func() {
		runtime.LockOSThread() // to the end of the thread
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 2e6, 0, 0, 0)
		late, _ := exec.Command("cat", "/proc/self/timerslack_ns").Output()
		resetTimerSlack()
		punctual, _ := exec.Command("cat", "/proc/self/timerslack_ns").Output()
		slack <- string(late) + string(punctual)
	}()
	if got := strings.Fields(<-slack); len(got) != 2 || got[0] != "2000000" || got[1] != "50000" {
		t.Errorf("%v ns, want 2000000 before and 50000 after", got)
	}
}
