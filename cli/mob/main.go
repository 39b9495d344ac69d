// Command mob seeds, fetches and watches contents. See `mob help`.
package main

import (
	"os"

	"github.com/mobgrid/mob/cli"
)

func main() { os.Exit(cli.Mob(cli.Process())) }
