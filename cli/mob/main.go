// Command mob seeds, gets and watches contents. `mob help` tells the rest.
package main

import (
	"os"

	"github.com/mobgrid/mob/cli"
)

func main() { os.Exit(cli.Mob(cli.Process())) }
