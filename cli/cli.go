// Package cli has the commands of mob and mobd.
//
// Each command is a file, with its help text first. A command connects to the
// daemon of its data directory through the socket there (package control). Without
// a daemon, seed, get, rm, verify and feed run one themselves, with the same socket,
// so that other commands find it too.
//
// Results go to standard output. Progress, notes and logs go to standard error,
// and so does the one line, with the program's name in front, of a command that
// failed. The exit status is 0 for done, 1 for failed, 2 for usage error, 130
// for interrupted and 141 if the reader of standard output has exited.
//
// The transfers themselves are in packages peer and tracker.
package cli

import (
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
)

// Mob runs the command mob and returns its exit status.
func Mob(env *command.Env) int { return env.Run(newMob(env)) }

// Mobd runs the command mobd and returns its exit status.
func Mobd(env *command.Env) int { return env.Run(daemon.Command(env)) }

// Commands returns the commands mob and mobd for manual pages and completions, with the defaults of an empty
// environment. They are not to be run.
func Commands() []*cobra.Command {
	env := &command.Env{Getenv: func(string) string { return "" }}
	return []*cobra.Command{newMob(env), daemon.Command(env)}
}
