package casting

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

const sbcastHelp = `Copies a file or directory to all nodes of a Slurm allocation: it is the command "mob
cast SRC --hosts slurm --launch srun -o DEST", and has its flags. Nothing needs to be
installed on the nodes, and DEST belongs to the user. Use mob cast if the nodes are in
several clusters.`

const sbcastExample = `  mob sbcast model.bin /tmp/model.bin
  mob sbcast --force data/ /scratch/
  mob sbcast --deadline 10m --min 95% --grace 30s data/ /scratch/
  srun ls -l /tmp/model.bin`

func newSbcast(a *command.App, run runner) *cobra.Command {
	var f flags
	return a.Command(command.Spec{
		Use: "sbcast SRC DEST", Short: "Copy a file or directory to all nodes of a Slurm job", Long: sbcastHelp, Example: sbcastExample,
		Args: command.Args(2, "SRC", "DEST"), Flags: f.add, JSON: true,
		Run: func(ctx context.Context, a *command.App, args []string) error {
			err := errors.Join(f.set.Set("hosts", "slurm"), f.set.Set("launch", "srun"), f.set.Set("output", args[1]))
			if err != nil {
				return err
			}
			return f.run(ctx, a, run, args[0], f.check)
		},
	})
}
