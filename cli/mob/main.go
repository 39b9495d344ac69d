// Command mob seeds and fetches files and directories, and shows transfers. See `mob help`.
package main

import (
	"os"

	"github.com/mobgrid/mob/cli"
	"github.com/mobgrid/mob/cli/command"
)

func main() { os.Exit(cli.Mob(command.Process())) }
