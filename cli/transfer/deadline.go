package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
)

// errDeadline is part of the cause of a context that ended at --deadline.
var errDeadline = errors.New("deadline")

// withDeadline returns a context that ends after d with errDeadline, or without a limit if d is 0.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%w of %v", errDeadline, d))
}

// checkDeadline reports why the value of --deadline is invalid.
func checkDeadline(set *pflag.FlagSet, d time.Duration) error {
	if set.Changed("deadline") && d <= 0 {
		return command.Usagef("--deadline %v: must be positive", d)
	}
	return nil
}
