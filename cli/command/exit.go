package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// Exit statuses.
const (
	ExitDone        = 0
	ExitFailed      = 1
	exitUsage       = 2
	ExitInterrupted = 130
	exitUnread      = 128 + int(syscall.SIGPIPE)
)

// usageError is an error in the use of a command.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Usagef returns a usage error, which ends a command with status 2 and names its help.
func Usagef(format string, values ...any) error { return &usageError{fmt.Errorf(format, values...)} }

// flagError returns the usage error of an invalid flag. It names the form of a value, as the flag package names a function
// of Go instead.
func flagError(_ *cobra.Command, err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return &usageError{err}
	}
	flag := invalid.GetFlag()
	form, ok := map[string]string{"int": "a number", "duration": "a time such as 30s, 10m or 1h30m", "bool": "true or false"}[flag.Value.Type()]
	if !ok {
		return Usagef("--%s: %w", flag.Name, invalid.Unwrap())
	}
	return Usagef("--%s %q: must be %s", flag.Name, invalid.GetValue(), form)
}

// exitError ends a command with a status.
type exitError struct {
	status int
	text   string
}

// Error implements error.
func (e *exitError) Error() string { return e.text }

// Exitf returns an error that ends a command with a status.
func Exitf(status int, format string, values ...any) error {
	return &exitError{status, fmt.Sprintf(format, values...)}
}

// Interruptedf returns the error of a command that was interrupted.
func Interruptedf(format string, values ...any) error {
	return Exitf(ExitInterrupted, format, values...)
}

// Outcome returns the exit status for the error of a command, and the last line on standard error, which
// may be empty.
func Outcome(command string, err error, interrupted bool) (status int, text string) {
	var usage *usageError
	seeHelp := fmt.Sprintf(" (see `%s --help`)", command)
	var exit *exitError
	switch {
	case err == nil:
		return ExitDone, ""
	case errors.As(err, &exit):
		return exit.status, OneLine(exit.text)
	case isUnread(err):
		return exitUnread, ""
	case interrupted && (errors.Is(err, context.Canceled) || errors.Is(err, peer.ErrStopped)):
		return ExitInterrupted, "interrupted"
	case errors.As(err, &usage):
		return exitUsage, OneLine(usage.Error() + seeHelp)
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		return exitUsage, OneLine(err.Error() + seeHelp)
	}
	return ExitFailed, OneLine(err.Error())
}

// isUnread reports whether a write to standard output failed since its reader has exited.
func isUnread(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Path == os.Stdout.Name() && errors.Is(e, syscall.EPIPE)
}

// OneLine joins the lines of a text and makes it [term.Printable].
func OneLine(text string) string {
	return term.Printable(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// Args checks the number of arguments. The first least of names are required.
func Args(least int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, given []string) error {
		switch {
		case len(given) < least:
			return Usagef("%s is missing", names[len(given)])
		case len(given) > len(names):
			return Usagef("unexpected argument %q", given[len(names)])
		}
		for i, arg := range given {
			if arg == "" {
				return Usagef("%s is empty", names[i])
			}
		}
		return nil
	}
}

// checkEmpty fails for a flag with an empty value, as of an unset variable: it never means the default, such as no network.
func checkEmpty(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && f.Name != "note" { // a note may be empty
			err = Usagef("--%s is empty: give a value, or leave it out", f.Name)
		}
	})
	return err
}

// CheckPath checks the path in a flag, if it is given. Some commands accept other values too.
func CheckPath(set *pflag.FlagSet, flag string, others ...string) error {
	if path := set.Lookup(flag).Value.String(); path == "-" && !slices.Contains(others, path) {
		return Usagef("--%s -: standard output is not supported; a file of that name is ./-", flag)
	}
	return nil
}
