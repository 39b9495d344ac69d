package casting

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cli/command"
)

const gatherHelp = `Copies a file or directory of many hosts to this machine, each to a separate path. Nothing
needs to be installed on the hosts, and nothing is left there. Each byte is sent once and
verified by hash.

PATH is relative to where a login starts, with ssh the home directory. In DEST, %h is the
host, %c its cluster and %% a percent sign: each host must have a separate path. With a
slash at its end DEST is the directory for PATH. As with "mob get", DEST must not exist.

A host without PATH, or one that is lost, fails alone. What arrived of it is kept, with a
directory .mob-gather-* above the copies: the same command, or --retry, fetches the rest.

For logins, HOSTSET and the remaining flags see "mob cast".

Exit status: 0 if the content of all hosts is here, or of as many as --min requires; 1 if
of fewer; 2 usage error, before any host was contacted; 130 interrupted.`

const gatherExample = `  mob gather --hosts 'n[1-64]' /var/log/app.log -o 'logs/%h'
  mob gather --hosts 'lyon=l[01-40]' --hosts 'tokyo=t[01-40]' results -o 'DIR/%c/%h' --bad failed
  mob gather --retry failed results -o 'DIR/%c/%h'
  mob gather --hosts slurm --launch srun /tmp/out -o 'out-%h' --min 95% --deadline 10m --json`

func newGather(a *command.App, run runner) *cobra.Command {
	var f flags
	return a.Command(command.Spec{
		Use:   "gather --hosts [CLUSTER=]HOSTSET ... PATH -o DEST",
		Short: "Copy a file or directory from many hosts by ssh", Long: gatherHelp, Example: gatherExample,
		Args: command.Args(1, "PATH"), Flags: f.addGather, JSON: true,
		Run: func(ctx context.Context, a *command.App, args []string) error {
			return f.run(ctx, a, run, args[0], f.checkGather)
		},
	})
}

func (f *flags) addGather(fl *pflag.FlagSet) {
	f.addHosts(fl, "from")
	fl.StringVarP(&f.Output, "output", "o", "", "file or directory to create for each host, `DEST`")
	fl.BoolVar(&f.FollowLinks, "follow-links", false, "take what symbolic links lead to out of PATH")
}

// checkGather is check for a gather.
func (f *flags) checkGather(ctx context.Context, a *command.App, path string) (least int, err error) {
	switch {
	case path == "":
		return 0, errors.New("PATH is empty")
	case !utf8.ValidString(path): // hosts receive it in JSON
		return 0, errors.New("PATH is not valid UTF-8")
	case f.Output == "":
		return 0, errors.New("-o is missing: say where to put the copies, such as 'DIR/%c/%h'")
	}
	f.Umask = command.ContentUmask()
	if least, err = f.checkHosts(ctx, a, path); err != nil {
		return 0, err
	}
	_, err = cast.Outputs(f.Config)
	return least, err
}
