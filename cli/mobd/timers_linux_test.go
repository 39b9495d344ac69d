package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// probe is an environment variable. The test binary then prints its arguments and
// the slack of two threads instead of running tests.
const probe = "MOBD_TIMER_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(probe) == "" {
		os.Exit(m.Run())
	}
	allowLateTimers()
	fmt.Println(os.Args[1:], slack(), slackOfOtherThread())
}

// slackOfOtherThread returns the slack of a thread that the scheduler started.
func slackOfOtherThread() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := make(chan time.Duration)
	go func() { c <- slack() }()
	return <-c
}

func TestAllowLateTimers(t *testing.T) {
	for before, want := range map[time.Duration]string{
		50 * time.Microsecond: "[a b] 2ms 2ms",
		10 * time.Millisecond: "[a b] 10ms 10ms",
	} {
		if got, err := probeFrom(before); err != nil || got != want {
			t.Errorf("started with slack %v: %q, %v; want %q", before, got, err, want)
		}
	}
}

// probeFrom runs the probe from a thread with a slack. The thread ends with the
// goroutine that is locked to it.
func probeFrom(before time.Duration) (out string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(before.Nanoseconds()), 0, 0, 0)
		if err != nil {
			return
		}
		cmd := exec.Command(os.Args[0], "a", "b")
		cmd.Env = append(os.Environ(), probe+"=1")
		var b []byte
		b, err = cmd.CombinedOutput()
		out = strings.TrimSpace(string(b))
	}()
	<-done
	return out, err
}
