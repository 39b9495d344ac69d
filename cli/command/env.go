package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// Env is the environment of a command.
type Env struct {
	Args   []string // without the program's name
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
}

// Process returns the environment of this process.
func Process() *Env {
	return &Env{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
}

// secondSignal is the time after a signal in which another one does not kill the process: timeout(1) sends two.
const secondSignal = time.Second

// Run runs a command and returns its exit status. The first SIGINT or SIGTERM cancels the
// command's context, another one a second later kills the process. For SIGHUP see [EndOnHangup] and [OnHangup]. SIGPIPE is ignored.
func (env *Env) Run(root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(secondSignal, stop) })
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write to a closed pipe fails, and the command cleans up

	root.Version = Version()
	root.InitDefaultHelpCmd()
	if help, _, _ := root.Find([]string{"help"}); help != root {
		help.Args = func(_ *cobra.Command, args []string) error {
			if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
				return Usagef("unknown command %q", strings.Join(args, " "))
			}
			return nil
		}
	}
	root.SetArgs(env.Args)
	help := &checkedWriter{out: env.Out}
	root.SetOut(help)
	root.SetErr(env.Err)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(flagError)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.err
	}
	status, text := Outcome(cmd.CommandPath(), err, cmd.Context().Err() != nil)
	if text != "" {
		fmt.Fprintf(env.Err, "%s: %s\n", root.Name(), text)
	}
	return status
}

// Screen returns a screen on standard error. With quiet it reports stalls only.
func (env *Env) Screen(quiet bool) *term.Screen {
	s := term.New(env.Err, env.Getenv)
	s.Quiet = quiet
	return s
}

// Note prints a line on standard error.
func (env *Env) Note(format string, args ...any) {
	fmt.Fprintln(env.Err, term.Printable(fmt.Sprintf(format, args...)))
}

// DefaultData returns the default of --data: $MOB_DATA, then the directory mob in the
// XDG state directory. It is empty without a home directory.
func (env *Env) DefaultData() string {
	if dir := env.Getenv("MOB_DATA"); dir != "" {
		return dir
	}
	if dir := env.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // the convention ignores relative paths
		return filepath.Join(dir, "mob")
	}
	if dir := env.Getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".local", "state", "mob")
	}
	return ""
}

// DataDir returns the absolute path of a data directory.
func DataDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data directory: give --data, or set MOB_DATA")
	}
	return vfs.Abs(dir)
}
