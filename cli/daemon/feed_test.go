package daemon

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestRunVersionInterrupted ends the command of a feed while its shell waits for another one: both get the interrupt. A job in the
// background, which ignores interrupts, is killed.
func TestRunVersionInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started, alive := filepath.Join(dir, "started"), filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, background := make(chan error, 1), make(chan error, 1)
	go func() {
		f, err := os.Open(alive) // once the job in the background opens it
		opened <- err
		_, err = io.Copy(io.Discard, f) // until it has exited
		background <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- runVersion(ctx, `sleep 1000 >"${MOB_PATH%started}alive" & sh -c 'trap "echo interrupted >\"$MOB_PATH\"; exit" INT; echo $MOB_VERSION >"$MOB_PATH"; while :; do sleep 0.01; done'; true`,
			feed.Version{Seq: 7, Path: started})
	}()
	content := func() string {
		b, _ := os.ReadFile(started)
		return string(b)
	}
	peertest.Eventually(t, "the command runs", func() bool { return content() == "7\n" })
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		t.Log(err) // of the shell, which was interrupted
	case <-time.After(peertest.WaitTimeout):
		t.Fatal("the command runs")
	}
	if got := content(); got != "interrupted\n" {
		t.Errorf("after the interrupt: %q", got)
	}
	select {
	case err := <-background:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(peertest.WaitTimeout):
		t.Error("the job in the background runs")
	}
}
