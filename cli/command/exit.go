package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// Exit statuses.
const (
	ExitDone        = 0
	ExitFailed      = 1
	exitUsage       = 2
	ExitInterrupted = 130
)

// usageError is an error in the use of a command.
type usageError struct {
	command string
	err     error
}

// Error implements error.
func (e *usageError) Error() string { return fmt.Sprintf("%v (see `%s --help`)", e.err, e.command) }

// Usagef returns a usage error of a command, which ends it with status 2.
func Usagef(cmd *cobra.Command, format string, values ...any) error {
	return &usageError{cmd.CommandPath(), fmt.Errorf(format, values...)}
}

// interruptedError reports an interrupt, and its effect.
type interruptedError struct{ text string }

// Error implements error.
func (e *interruptedError) Error() string { return e.text }

// Interruptedf returns the error of a command that was interrupted, which ends it with status 130.
func Interruptedf(format string, values ...any) error {
	return &interruptedError{fmt.Sprintf(format, values...)}
}

// Outcome returns the exit status for the error of a command, and the last line on standard error, which
// may be empty.
func Outcome(command string, err error, interrupted bool) (status int, text string) {
	var usage *usageError
	var stopped *interruptedError
	switch {
	case err == nil:
		return ExitDone, ""
	case errors.As(err, &stopped):
		return ExitInterrupted, OneLine(stopped.text)
	case interrupted && (errors.Is(err, context.Canceled) || errors.Is(err, peer.ErrStopped)):
		return ExitInterrupted, "interrupted"
	case errors.As(err, &usage):
		return exitUsage, OneLine(usage.Error())
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		return exitUsage, OneLine((&usageError{command, err}).Error())
	}
	return ExitFailed, OneLine(err.Error())
}

// OneLine joins the lines of a text and makes it [term.Printable].
func OneLine(text string) string {
	return term.Printable(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// Args checks the number of arguments. The first least of names are required.
func Args(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case len(given) < least:
			return Usagef(cmd, "%s is missing", names[len(given)])
		case len(given) > len(names):
			return Usagef(cmd, "unexpected argument %q", given[len(names)])
		}
		for i, arg := range given {
			if arg == "" {
				return Usagef(cmd, "%s is empty", names[i])
			}
		}
		return nil
	}
}
