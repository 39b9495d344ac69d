package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/mobgrid/mob/cast/carry"
)

// Run runs an agent until the cast ends, and returns its exit status. It reads orders from stdin and
// writes reports to stdout.
func Run(ctx context.Context, stdin io.Reader, stdout io.Writer) (exit int) {
	// The remote shell may end at any time: then writing fails, and does not end the process.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	s, err := carry.Serve(stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mob:", err)
		return 1
	}
	defer s.Close()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, stdin)
	}()
	select {
	case <-closed:
		return 0
	case <-ctx.Done():
		return 1
	}
}
