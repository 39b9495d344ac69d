package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/casting"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/demo"
	"github.com/mobgrid/mob/cli/network"
	"github.com/mobgrid/mob/cli/status"
	"github.com/mobgrid/mob/cli/transfer"
)

const mobHelp = `mob moves one large file or directory from a source to many nodes in many clusters.

The nodes of a cluster form a mob: each fetches a share of the content over the WAN,
and they exchange the shares over the LAN, so each byte enters a cluster once. Clusters
may be racks of sites (--cluster geneva/rack3): each byte enters site and rack once.

Every node runs the daemon mobd. Commands connect to the daemon of the data directory
--data. Without one, seed, get, rm, verify and feed run a node themselves.

Whoever has a link can fetch the content, and other users of a machine see arguments
(ps). For every LINK, - reads it from standard input, and @PATH from a file.

Exit status: 0 done, 1 failed, 2 usage error, 130 interrupted, 141 output not read.`

const mobExample = `  mob demo                                       # see it work on this machine
  mob tracker --listen /ip4/0.0.0.0/tcp/4000     # where all nodes can reach it
  mob seed big.tar --tracker TRACKER             # prints a link
  mob get LINK -o big.tar                        # on every other node
  mob cast big.tar --hosts 'n[1-64]'             # or by ssh, with nothing installed there`

func newMob(env *command.Env) *cobra.Command {
	a := &command.App{Env: env}
	root := a.Command(command.Spec{
		Use: "mob", Short: "Move a large file or directory to many clusters", Long: mobHelp, Example: mobExample,
		Commands: slices.Concat(
			transfer.Commands(a), status.Commands(a), network.Commands(a), casting.Commands(a),
			[]*cobra.Command{demo.Command(a), newVersion(a)},
		),
	})
	root.PersistentPreRun = command.EndOnHangup // of a subcommand too, unless that has its own
	f := root.PersistentFlags()
	f.StringVar(&a.Data, "data", env.DefaultData(), "data directory of the node, $MOB_DATA by default")
	f.StringVar(&a.LogLevel, "log-level", "off", "log level of a node that the command runs: debug, info, warn, error or off")
	return root
}
