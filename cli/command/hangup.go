package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// ErrHangup is the cause of a context that SIGHUP has ended.
var ErrHangup = Interruptedf("the terminal was closed")

// EndOnHangup ends a command on SIGHUP as on SIGTERM, since its terminal was closed. A command that was
// started with nohup continues.
func EndOnHangup(cmd *cobra.Command, _ []string) {
	if signal.Ignored(syscall.SIGHUP) {
		return
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	stop := OnHangup(func() { cancel(ErrHangup) })
	context.AfterFunc(ctx, func() { time.AfterFunc(secondSignal, stop) }) // then another one kills the process
	cmd.SetContext(ctx)
}

// OnHangup calls f for each SIGHUP until stop is called, and SIGHUP does not end the process. stop waits
// for a call in progress.
func OnHangup(f func()) (stop func()) {
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
