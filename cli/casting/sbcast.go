package casting

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

const sbcastHelp = `Copies a file or directory to all nodes of a Slurm allocation: it is the command "mob
cast SRC --hosts slurm --launch srun -o DEST", and has its flags: --hosts and --retry
replace the nodes of the job, --launch and --rsh replace srun. Nothing needs to be
installed on the nodes, and DEST belongs to the user.`

const sbcastExample = `  mob sbcast model.bin /tmp/model.bin
  mob sbcast --force data/ /scratch/ --bad failed
  mob sbcast --force data/ /scratch/ --retry failed
  mob sbcast --deadline 10m --min 95% --grace 30s data/ /scratch/
  srun ls -l /tmp/model.bin`

func newSbcast(a *command.App, run runner) *cobra.Command {
	var f flags
	return a.Command(command.Spec{
		Use: "sbcast SRC DEST", Short: "Copy a file or directory to all nodes of a Slurm job", Long: sbcastHelp, Example: sbcastExample,
		Args: command.Args(2, "SRC", "DEST"), Flags: f.add, JSON: true,
		Run: func(ctx context.Context, a *command.App, args []string) error {
			if f.set.Changed("output") {
				return command.Usagef("-o is DEST: give one of them")
			}
			if len(f.hosts) == 0 && f.retry == "" {
				f.hosts = []string{"slurm"}
			}
			if !f.set.Changed("launch") {
				f.launcher = "srun"
			}
			if err := f.set.Set("output", args[1]); err != nil {
				return err
			}
			return f.run(ctx, a, run, args[0], f.check)
		},
	})
}
