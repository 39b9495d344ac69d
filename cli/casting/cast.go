package casting

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/proto"
)

const castHelp = `Copies a file, a directory or standard input (-) to many hosts. Nothing needs to be
installed on them. Each byte enters each cluster once, and the hosts send it to each
other. If some hosts fail, the remaining ones still get the content.

The command logs in to each host with ssh, which must not ask for a password, and copies
the program there: once into each cluster, and from host to host, verified by hash. At
the end it removes the program, unless --keep is given. A host with the same build of mob
at the same path, on $PATH or from --keep needs no copy.

--launch selects another program than ssh: srun (in a Slurm job), kubectl (the hosts are
pods), docker or lxc (containers). --rsh gives any program that runs a command line on a
host. In CMD, %h is the host; without one the host is the last argument before the command
line. An argument with %p or %r stays as it is for ssh, such as ControlPath=%r@%h:%p. The
hosts need sh. Standard input must be forwarded, so pdsh cannot be used.

With --tree this machine logs in to 8 hosts of each cluster only, and each host to up to
8 others of its cluster: many hosts start sooner. It needs logins from host to host
without a password: where one fails, this machine logs in. If a host is lost, the hosts
behind it are reached again by another way. A host can read the messages for the hosts
behind it, with the keys of their nodes.

HOSTSET has the syntax of ClusterShell: n[1-20,30],gw with padding (n[001-064]), steps
(n[0-62/2]), several brackets, and from left to right the operators "," (union), "!"
(difference), "&" (intersection) and "^" (symmetric difference). Quote it for the shell.
It may also be @FILE or - (standard input) with lines "HOSTSET [CLUSTER]" and # comments,
or slurm, the nodes of the Slurm job. Without CLUSTER= all hosts are in one cluster: name
the clusters if there are several. If this machine is in one of them, name that with
--cluster. CLUSTER may be a rack of a site, as lyon/rack1: each byte enters both once.

DEST is a path on each host, by default the name of SRC. It is relative to where a login
starts, with ssh the home directory. With a slash at its end SRC is put into it, and so
is a file if DEST is a directory. A directory without the slash is DEST itself. Existing
files are replaced or completed with --force only. With --exec a command on each host
gets the content on its standard input while it arrives; if the transfer fails, the
command is killed. In DEST and CMD, %h is the host, %c its cluster and %% a percent
sign. CMD also has $MOB_HOST and $MOB_CLUSTER; its output is shown with the name of its
host.

By default a cast waits for all hosts. --deadline ends hosts that are not done that long
after the start, and --grace those that are not done that long after as many hosts as
--min are: with --grace 0s the cast ends as soon as these have the content. A stream is
as fast as the slowest host when its spool is full: --drop-slow ends a host that holds
the stream back for 10 s, or the given time, but keeps as many hosts as --min requires.
These hosts fail: they keep no part, --bad has them, and --retry completes them.

Exit status: 0 if all hosts have the content, or as many as --min requires; 1 if fewer
have it; 2 usage error, before any host was contacted; 130 interrupted, with everything
removed.`

const castExample = `  mob cast model.bin --hosts 'n[1-64]' -o /scratch/
  mob cast data/ --hosts 'lyon=l[001-040]' --hosts 'tokyo=t[001-040]' -o /data --bad failed
  mob cast data/ --retry failed -o /data
  mob cast data/ --hosts 'lyon/rack1=l[01-20]' --hosts 'lyon/rack2=l[21-40]' -o /data
  tar c tree | mob cast - --hosts slurm --exec 'tar x -C /tmp'
  mob cast disk.img --hosts @nodes --exec 'zcat > /dev/sdb' --min 95% --json
  mob cast data/ --hosts 'n[1-64]' -o /data --deadline 10m --min 60 --grace 30s --bad failed
  tar c tree | mob cast - --hosts 'n[1-64]' --exec 'tar x -C /tmp' --spool 1GB --drop-slow=20s
  mob cast model.bin --hosts slurm --launch srun -o /scratch/
  mob cast model.bin --hosts 'n[1-1000]' --tree -o /scratch/
  mob cast model.bin --hosts 'web-[0-9]' --rsh 'kubectl -n prod exec -i %h -- sh -c' -o /models/`

// The defaults of flags.
const (
	defaultWindow = 32
	defaultSpool  = "10GB"
	defaultMin    = "100%"
)

// runner is [cast.Run], or a test's.
type runner func(context.Context, cast.Config) (*cast.Result, error)

// flags are the flags of cast. Most are fields of its configuration.
type flags struct {
	cast.Config
	hosts     []string
	retry     string
	shell     string
	launcher  string
	spool     string
	min       string
	good, bad string
	quiet     bool
	set       *pflag.FlagSet
}

func newCast(a *command.App, run runner) *cobra.Command {
	var f flags
	return a.Command(command.Spec{
		Use:   "cast SRC|- --hosts [CLUSTER=]HOSTSET ... [-o DEST | --exec CMD]",
		Short: "Copy a file, directory or stream to many hosts by ssh", Long: castHelp, Example: castExample,
		Args: command.Args(1, "SRC"), Flags: f.add, JSON: true,
		Run: func(ctx context.Context, a *command.App, args []string) error {
			return f.run(ctx, a, run, args[0], f.check)
		},
	})
}

func (f *flags) add(fl *pflag.FlagSet) {
	f.addHosts(fl, "to")
	fl.StringVarP(&f.Dest, "output", "o", "", "file or directory to create on each host, `DEST`")
	fl.StringVar(&f.Exec, "exec", "", "command that gets the content on each host, `CMD`")
	fl.BoolVarP(&f.Force, "force", "f", false, "replace what is at DEST")
	fl.BoolVar(&f.FollowLinks, "follow-links", false, "take what symbolic links lead to out of SRC")
	fl.StringVar(&f.spool, "spool", defaultSpool, "`SIZE` that a stream may take on the disk of a slow host, and here")
	fl.DurationVar(&f.DropSlow, "drop-slow", 0, "end a host that alone holds a stream back for that long, `D`")
	fl.Lookup("drop-slow").NoOptDefVal = "10s"
}

// addHosts adds the flags that cast and gather share. way is the direction of the copies.
func (f *flags) addHosts(fl *pflag.FlagSet, way string) {
	f.set = fl
	fl.StringArrayVar(&f.hosts, "hosts", nil, "hosts to copy "+way+", `[CLUSTER=]HOSTSET`; repeatable")
	fl.StringVar(&f.retry, "retry", "", "copy "+way+" the hosts in a `FILE` that --bad wrote")
	fl.StringVar(&f.Cluster, "cluster", "", "cluster of this machine among the clusters of --hosts, $MOB_CLUSTER by default")
	fl.StringVar(&f.launcher, "launch", "ssh", "`NAME` of the program that starts the hosts: "+strings.Join(launcherNames(), ", "))
	fl.StringVar(&f.shell, "rsh", "", "another such program: called as `CMD` HOST COMMANDLINE, or with the host for %h")
	fl.IntVar(&f.Window, "window", defaultWindow, "`NUMBER` of concurrent logins")
	fl.IntVar(&f.Tree, "tree", 0, "let each host log in to `NUMBER` hosts, 8 by default; 0 logs in to all from here")
	fl.Lookup("tree").NoOptDefVal = "8"
	fl.BoolVar(&f.Keep, "keep", false, "leave the program on the hosts for the next cast, in $XDG_CACHE_HOME/mob")
	fl.StringVar(&f.good, "good", "", "write the hosts whose copy is complete to a `FILE`")
	fl.StringVar(&f.bad, "bad", "", "write the other hosts to a `FILE`, for --retry or --hosts @FILE")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	fl.StringVar(&f.min, "min", defaultMin, "hosts that must get the content, a `NUMBER` or percentage")
	fl.DurationVar(&f.Deadline, "deadline", 0, "end hosts that are not done that long after the start, `D`")
	fl.DurationVar(&f.Grace, "grace", 0, "end hosts that are not done that long after --min hosts are, `D`")
}

// check completes the configuration of a cast, before any host is contacted. It returns the minimum number of hosts that must get
// the content.
func (f *flags) check(ctx context.Context, a *command.App, src string) (least int, err error) {
	f.Stdin = a.In
	switch {
	case f.set.Changed("exec") && f.set.Changed("output"):
		return 0, errors.New("--exec and -o are mutually exclusive: a command gets the content, or DEST")
	case f.set.Changed("exec") && strings.TrimSpace(f.Exec) == "":
		return 0, errors.New("--exec is empty: give a command")
	case f.Dest == "~" || strings.HasPrefix(f.Dest, "~/"):
		return 0, fmt.Errorf("-o %s: ~ is not expanded on the hosts: leave it out, as a relative path starts where a login does; "+
			"a directory of that name is ./~", f.Dest)
	case f.set.Changed("drop-slow") && src != "-" && f.Exec == "":
		return 0, errors.New("--drop-slow requires a stream: SRC - or --exec")
	}
	spool, err := humanize.ParseBytes(f.spool)
	if err != nil || spool > math.MaxInt64 {
		return 0, fmt.Errorf("--spool %q: must be a size such as 10GB", f.spool)
	}
	f.Spool = int64(spool)
	if least, err = f.checkHosts(ctx, a, src); err != nil {
		return 0, err
	}
	if _, err := f.Hosts[0].Expand(f.Dest + f.Exec); err != nil { // one of them is empty
		return 0, err
	}
	return least, f.checkSource(a, src)
}

// checkHosts is the part of check that cast and gather share.
func (f *flags) checkHosts(ctx context.Context, a *command.App, src string) (least int, err error) {
	f.Source = src
	for _, flag := range []string{"output", "good", "bad"} {
		if err := command.CheckPath(f.set, flag); err != nil {
			return 0, err
		}
	}
	if f.Log, _, err = command.NewLog(a.Err, a.LogLevel, false); err != nil {
		return 0, err
	}
	switch {
	case f.Window < 1:
		return 0, fmt.Errorf("--window %d: must be 1 or more", f.Window)
	case !utf8.ValidString(f.Dest + f.Exec + f.Output): // hosts and nodes receive them in JSON
		return 0, errors.New("-o or --exec is not valid UTF-8")
	case f.Tree < 0:
		return 0, fmt.Errorf("--tree %d: must be 0 or more", f.Tree)
	case f.set.Changed("rsh") && f.set.Changed("launch"):
		return 0, errors.New("--rsh and --launch are mutually exclusive")
	case f.set.Changed("grace") && !f.set.Changed("min"):
		return 0, errors.New("--grace requires --min")
	}
	for name, d := range map[string]time.Duration{"deadline": f.Deadline, "grace": f.Grace, "drop-slow": f.DropSlow} {
		if d < 0 || d == 0 && name != "grace" && f.set.Changed(name) {
			return 0, fmt.Errorf("--%s %v: must be positive", name, d)
		}
	}
	if f.Shell, err = f.parseShell(); err != nil {
		return 0, err
	}
	if f.Tree > 0 && strings.Contains(f.Shell[0], "/") && !filepath.IsAbs(f.Shell[0]) {
		return 0, fmt.Errorf("--rsh %s: hosts run it with --tree: give an absolute path, or a name in their $PATH", f.Shell[0])
	}
	if err := errors.Join(checkDir("--good", f.good), checkDir("--bad", f.bad)); err != nil {
		return 0, err
	}
	if f.Hosts, err = f.parseHosts(ctx, a, src); err != nil {
		return 0, err
	}
	if f.Cluster, err = f.ownCluster(a); err != nil {
		return 0, fmt.Errorf("--cluster: %w", err)
	}
	if least, err = parseMin(f.min, len(f.Hosts)); err != nil {
		return 0, fmt.Errorf("--min %s: %w", f.min, err)
	}
	if f.set.Changed("min") {
		f.Min = least
	}
	if !f.set.Changed("grace") {
		f.Grace = -1
	}
	return least, nil
}

// parseHosts returns the hosts of --hosts and --retry.
func (f *flags) parseHosts(ctx context.Context, a *command.App, src string) ([]cast.Host, error) {
	specs, flag := f.hosts, "--hosts"
	if f.retry != "" {
		specs = append(specs, cast.DefaultCluster+"=@"+f.retry) // "=" in a path names no cluster
		flag = "--retry"
		if len(f.hosts) > 0 {
			flag = "--hosts and --retry"
		}
	}
	if len(specs) == 0 {
		return nil, errors.New("--hosts is missing: say where to copy " + way(&f.Config))
	}
	for _, s := range specs {
		if src == "-" && (s == "-" || strings.HasSuffix(s, "=-")) {
			return nil, errors.New("standard input cannot be both the content and a list of hosts")
		}
	}
	hosts, err := cast.Hosts(specs, a.Getenv, command.Until(ctx, a.In))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return hosts, nil
}

// ownCluster returns the cluster of this machine, empty if it is not known. $MOB_CLUSTER is ignored if all hosts are in
// the default cluster.
func (f *flags) ownCluster(a *command.App) (string, error) {
	name := f.Cluster
	named := slices.ContainsFunc(f.Hosts, func(h cast.Host) bool { return h.Cluster != cast.DefaultCluster })
	if name == "" && named {
		name = a.Getenv("MOB_CLUSTER")
	}
	if name == "" {
		return "", nil
	}
	return name, proto.CheckCluster(name)
}

// checkSource checks that there is a source, and that it can go where it shall.
func (f *flags) checkSource(a *command.App, src string) error {
	if src == "-" {
		switch {
		case f.Dest == "" && f.Exec == "":
			return errors.New("standard input has no name: give a file with -o, or a command with --exec")
		case strings.HasSuffix(f.Dest, "/"):
			return fmt.Errorf("standard input has no name: give a file, not the directory %s", f.Dest)
		case term.IsTerminal(a.In):
			return errors.New("standard input is a terminal: pipe the content into the command")
		}
		return a.CheckIn()
	}
	fi, err := os.Stat(src)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", src)
	case err != nil:
		return err
	case fi.IsDir() && f.Exec != "":
		return fmt.Errorf("%s is a directory, and --exec takes one file: `tar c %s | mob cast - --exec 'tar x'`", src, src)
	case !fi.IsDir() && !fi.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a directory: pipe it into `mob cast -`", src)
	}
	return nil
}

// run copies the content and prints the report. check is [flags.check] or [flags.checkGather].
func (f *flags) run(ctx context.Context, a *command.App, run runner, src string, check func(context.Context, *command.App, string) (int, error)) error {
	least, err := check(ctx, a, src)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if _, err := exec.LookPath(f.Shell[0]); errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the remote shell %s is not on this machine: install it, or give another with --launch or --rsh", f.Shell[0])
	} else if err != nil {
		return fmt.Errorf("the remote shell %s is not an executable file: give another with --launch or --rsh", f.Shell[0])
	}
	res, err := castAndShow(ctx, a, run, f.Config, f.quiet)
	if res == nil {
		return err
	}
	r := newReport(res, f.Config)
	err = errors.Join(err, a.Print(r, r.print), writeHosts(a.Env, f.good, r.hosts(true)), writeHosts(a.Env, f.bad, r.hosts(false)))
	switch {
	case ctx.Err() != nil && (err != nil || r.Done < least):
		return command.Interruptedf("interrupted: %s", r.result())
	case err != nil:
		return err
	case r.Done < least:
		return errors.New(r.result())
	}
	return nil
}

// parseMin returns how many of n hosts a value of --min means.
func parseMin(text string, n int) (int, error) {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		share, err := strconv.ParseFloat(number, 64)
		if err != nil || !(share > 0 && share <= 100) {
			return 0, errors.New("must be more than 0% and at most 100%")
		}
		const rounding = 1e-9 // 99.9 % of 1000 are 999
		return max(1, int(math.Ceil(share*float64(n)/100-rounding))), nil
	}
	least, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, errors.New("must be a number of hosts, or a percentage such as 95%")
	case least < 1 || least > n:
		return 0, fmt.Errorf("must be 1 to %d hosts", n)
	}
	return least, nil
}

// checkDir fails unless the file of a flag, which may be empty for none, could be made.
func checkDir(flag, path string) error {
	if path == "" {
		return nil
	}
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return fmt.Errorf("%s: %s is a directory", flag, path)
	}
	dir := filepath.Dir(path)
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return fmt.Errorf("%s: the directory %s does not exist", flag, dir)
	}
	return nil
}
