// Command mob-agent is what `mob cast` runs on each host. It is not for people: it waits for orders
// on its standard input.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mobgrid/mob/cast/agent"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(agent.Run(ctx, os.Stdin, os.Stdout, os.Stderr))
}
