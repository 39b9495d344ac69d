package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/term"
)

// Env is the environment of a command.
type Env struct {
	Args   []string // without the program's name
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
}

// Process is the environment of this process.
func Process() *Env {
	return &Env{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
}

// Mob runs the command mob and returns its exit status.
func Mob(env *Env) int { return env.run(newMob(env)) }

// Mobd runs the command mobd and returns its exit status.
func Mobd(env *Env) int { return env.run(newMobd(env)) }

// run runs a command until it returns. The first SIGINT or SIGTERM cancels its
// context; the second kills the process. What SIGHUP does is up to the command: see
// endOnHangup and onHangup.
func (env *Env) run(root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root.SetArgs(env.Args)
	help := &result{out: env.Out}
	root.SetOut(help)
	root.SetErr(env.Err)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd.CommandPath(), err} })
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.err
	}
	status, text := outcome(cmd.CommandPath(), err, cmd.Context().Err() != nil)
	if text != "" {
		fmt.Fprintf(env.Err, "%s: %s\n", root.Name(), text)
	}
	return status
}

// newProgress returns a screen on standard error. With quiet it reports only that there is no progress.
func (env *Env) newProgress(quiet bool) *term.Screen {
	p := term.New(env.Err, env.Getenv)
	p.Quiet = quiet
	return p
}

// note prints a line on standard error.
func (env *Env) note(format string, args ...any) {
	fmt.Fprintln(env.Err, term.Printable(fmt.Sprintf(format, args...)))
}
