package casting

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
)

const sbcastHelp = `Copies a file or directory to all nodes of a Slurm allocation, as Slurm's sbcast does: it
is "mob cast SRC --hosts slurm --launch srun -o DEST". Nothing needs to be installed on
the nodes, and DEST belongs to the user. Use mob cast if the nodes are in several clusters.

DEST is a path on each node; with a slash at its end it is the directory for SRC.

The flags are Slurm's, and --min, --deadline and --grace of mob cast.
--compress, --fanout, --size and --timeout are accepted and do nothing: mob has no use
for them. Modes and times are preserved in any case, as by "mob get", owners never, nor
setuid and setgid of files. Exit status: 0 if every node has DEST, 1 if not, with the
nodes named.`

const sbcastExample = `  mob sbcast model.bin /tmp/model.bin
  mob sbcast --force data/ /scratch/
  mob sbcast --deadline 10m --min 95% --grace 30s data/ /scratch/
  srun ls -l /tmp/model.bin`

// sbcastFlags are the flags of sbcast.
type sbcastFlags struct {
	flags
	job     string
	libs    string
	verbose int
}

func newSbcast(a *command.App, run runner) *cobra.Command {
	var f sbcastFlags
	return a.Command(command.Spec{
		Use: "sbcast SRC DEST", Short: "Copy a file or directory to all nodes of a Slurm job", Long: sbcastHelp, Example: sbcastExample,
		Args: command.Args(2, "SRC", "DEST"), Flags: f.add,
		Run: func(ctx context.Context, a *command.App, args []string) error {
			return runSbcast(ctx, a, run, args[0], args[1], &f)
		},
	})
}

func (f *sbcastFlags) add(fl *pflag.FlagSet) {
	f.set = fl
	fl.BoolVarP(&f.Force, "force", "f", false, "replace what is at DEST")
	f.addLimits(fl)
	fl.BoolP("preserve", "p", false, "preserve modes and times, as is done in any case")
	fl.StringP("compress", "C", "", "ignored")
	fl.Lookup("compress").NoOptDefVal = "default"
	fl.StringP("fanout", "F", "", "ignored")
	fl.StringP("size", "s", "", "ignored")
	fl.StringP("timeout", "t", "", "ignored")
	fl.StringVarP(&f.job, "jobid", "j", "", "job to copy to (default $SLURM_JOB_ID)")
	fl.StringVar(&f.libs, "send-libs", "no", "rejected: shared libraries are not sent")
	fl.Lookup("send-libs").NoOptDefVal = "yes"
	fl.CountVarP(&f.verbose, "verbose", "v", "log what is tried again")
}

func runSbcast(ctx context.Context, a *command.App, run runner, src, dest string, f *sbcastFlags) (err error) {
	if f.libs != "no" {
		return command.Usagef("--send-libs is not supported: copy the libraries with another command")
	}
	for _, name := range []string{"compress", "fanout", "size", "timeout"} {
		if f.set.Changed(name) {
			a.Note("note: --%s is ignored: mob has no use for it", name)
		}
	}
	if a.Getenv("SLURM_JOB_NODELIST") == "" {
		return errors.New("there is no Slurm job here: run the command in an allocation (salloc, sbatch)")
	}
	if f.verbose > 0 {
		a.LogLevel = "debug"
	}
	if strings.HasSuffix(dest, "/") {
		dest = filepath.Join(dest, filepath.Base(src))
	}
	if dest, err = filepath.Abs(dest); err != nil {
		return err
	}
	f.hosts, f.launcher, f.Dest = []string{"slurm"}, "srun", strings.ReplaceAll(dest, "%", "%%")
	f.Window, f.spool = defaultWindow, defaultSpool
	least, err := f.check(a, src)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if f.job != "" {
		f.Shell = slices.Insert(f.Shell, 1, "--jobid="+f.job)
	}
	return runCast(ctx, a, run, &f.flags, least)
}
