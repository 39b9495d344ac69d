package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// The exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError reports wrong usage of a command.
type usageError struct {
	command string
	err     error
}

// Error implements error.
func (e *usageError) Error() string {
	return fmt.Sprintf("%v (see `%s --help`)", e.err, e.command)
}

// interruptedError reports an interrupt, and what it leaves behind.
type interruptedError struct{ text string }

// Error implements error.
func (e *interruptedError) Error() string { return e.text }

// outcome maps the result of a command to its exit status and its last line on
// standard error, which may be empty.
func outcome(command string, err error, interrupted bool) (status int, text string) {
	var usage *usageError
	var stopped *interruptedError
	switch {
	case err == nil:
		return exitDone, ""
	case errors.As(err, &stopped):
		return exitInterrupted, oneLine(stopped.text)
	case interrupted && (errors.Is(err, context.Canceled) || errors.Is(err, peer.ErrStopped)):
		return exitInterrupted, "interrupted"
	case errors.As(err, &usage):
		return exitUsage, oneLine(usage.Error())
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		return exitUsage, oneLine((&usageError{command, err}).Error())
	}
	return exitFailed, oneLine(err.Error())
}

// oneLine joins the lines of a text and makes it [term.Printable].
func oneLine(text string) string {
	return term.Printable(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// args checks the number of arguments, of which the first least are required.
// names are for the messages.
func args(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case len(given) < least:
			return wrong(cmd, "%s is missing", names[len(given)])
		case len(given) > len(names):
			return wrong(cmd, "unexpected argument %q", given[len(names)])
		}
		for i, arg := range given {
			if arg == "" {
				return wrong(cmd, "%s is empty", names[i])
			}
		}
		return nil
	}
}

// wrong returns a [usageError] of a command.
func wrong(cmd *cobra.Command, format string, values ...any) error {
	return &usageError{cmd.CommandPath(), fmt.Errorf(format, values...)}
}
