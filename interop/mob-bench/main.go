// Command mob-bench compares mob with other systems on a grid of network namespaces, simulates swarms, and
// computes broadcast plans. It runs the programs mob and mobd beside it. See `mob-bench --help`.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

const rootHelp = `Compares mob with other systems, or runs it in a simulator: the same content over the
same links, and one way of measuring.

The throughput is the size of the content by the time from the start until the last
node has its copy. The bound is the highest that any broadcast can have over these
links and NICs (Edmonds' bound). WAN copies are the bytes that entered a cluster from other
clusters, by the size, and rack copies the bytes that entered a rack over its uplink.`

const rootExample = `  mob-bench grid --systems mob,aria2 --scenario fast --clusters 4x4 --size 240MB
  mob-bench sim --scenario random --clusters 20x10 --size 240MB
  mob-bench planners --model mixed --destinations 10,100,399`

func main() {
	env := command.Process()
	os.Exit(env.Run(newRoot(env)))
}

func newRoot(env *command.Env) *cobra.Command {
	a := &command.App{Env: env}
	root := a.Command(command.Spec{
		Use: "mob-bench", Short: "Compare mob with other systems, and simulate", Long: rootHelp, Example: rootExample,
		Commands: []*cobra.Command{newGrid(a), newSim(a), newRounds(a), newPlanners(a), newPlan(a), newReport(a), newCollective(a), newPaper(a)},
	})
	root.PersistentPreRun = command.EndOnHangup
	return root
}
