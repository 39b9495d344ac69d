package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// errHangup is the cause of a context that SIGHUP has ended.
var errHangup error = &interruptedError{"the terminal was closed"}

// endOnHangup has SIGHUP end a command as SIGTERM does: its terminal was closed. A
// command that was started with nohup goes on.
func endOnHangup(cmd *cobra.Command, _ []string) {
	if signal.Ignored(syscall.SIGHUP) {
		return
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	stop := onHangup(func() { cancel(errHangup) })
	context.AfterFunc(ctx, stop) // so that the second one kills the process
	cmd.SetContext(ctx)
}

// onHangup calls f for each SIGHUP, which then does not end the process, until stop is
// called. stop waits for a call under way.
func onHangup(f func()) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hangups {
			f()
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}
