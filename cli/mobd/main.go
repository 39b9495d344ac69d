// Command mobd is the daemon of a node. See `mobd --help`.
package main

import (
	"os"

	"github.com/mobgrid/mob/cli"
	"github.com/mobgrid/mob/cli/command"
)

func main() {
	allowLateTimers()
	os.Exit(cli.Mobd(command.Process()))
}
