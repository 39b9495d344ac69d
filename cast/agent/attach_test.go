package agent

import (
	"bufio"
	"io"
	"testing"
)

// TestAttachBlockedOutput logs in to an agent again whose former caster, or relay, does not read: its reports arrive at the new login,
// and its command is not held up.
func TestAttachBlockedOutput(t *testing.T) {
	t.Parallel()
	former, blocked := io.Pipe()
	a := &agent{ready: &Report{}}
	a.open(blocked)
	for range maxOutput {
		a.out.Load().output("line")
	}
	waits := make(chan struct{})
	go func() {
		defer close(waits)
		for range 2 { // one for the room of the line that is being written
			a.out.Load().output("late line")
		}
	}()
	in, stdin := io.Pipe()
	reports, out := io.Pipe()
	messages := a.attach(t.Context(), in, out)
	lines := bufio.NewScanner(reports)
	for lines.Scan() && lines.Text() != "\x1e{}" { // late lines
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, reports)
	}()
	<-waits
	_ = stdin.Close()
	if _, ok := <-messages; ok {
		t.Error("a message at the end of the input")
	}
	a.out.Load().close()
	_ = out.Close()
	<-drained
	_ = former.Close()
}
