package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const sbcastHelp = `Copies a file or directory to all nodes of a Slurm allocation, as Slurm's sbcast does, as
a swarm: SRC is read once, and each byte enters each cluster once.

DEST is a path on each node; with a slash at its end it is the directory for SRC. The
command seeds SRC, and has srun run "mob sbcast" once on each node, which gets DEST.
mob must be at the same path there. A daemon of --data that is the user's own does the
work; otherwise the command runs a node itself, here and there, so that DEST belongs to
the user. $MOB_CLUSTER names the cluster of a node.

The flags are the same as sbcast's. --compress, --fanout, --size and --timeout are accepted
and do nothing: mob has no use for them. Modes and times are preserved in any case, as
by "mob get", owners never, nor setuid and setgid of files. Exit status: 0 if every node has DEST, 1 if not, with the nodes named.`

const sbcastExample = `  mob sbcast model.bin /tmp/model.bin
  mob sbcast --force data/ /scratch/
  srun ls -l /tmp/model.bin`

// sbcastFlags are the flags of sbcast.
type sbcastFlags struct {
	node    daemon.Flags
	force   bool
	job     string
	libs    string
	verbose int
	receive bool // of the command that srun runs
	set     *pflag.FlagSet
}

func newSbcast(a *command.App) *cobra.Command {
	var f sbcastFlags
	return a.Command(command.Spec{
		Use: "sbcast SRC DEST", Short: "Copy a file or directory to all nodes of a Slurm job", Long: sbcastHelp, Example: sbcastExample,
		Args: command.Args(2, "SRC", "DEST"), Flags: f.add,
		Run: func(ctx context.Context, a *command.App, args []string) error {
			if f.receive {
				return sbcastReceive(ctx, a, args[1], &f)
			}
			return runSbcast(ctx, a, args[0], args[1], &f)
		},
	})
}

func (f *sbcastFlags) add(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringArrayVar(&f.node.TrackerAddrs, "tracker", nil, "tracker to use; repeatable")
	fl.BoolVarP(&f.force, "force", "f", false, "replace what is at DEST")
	fl.BoolP("preserve", "p", false, "preserve modes and times, as is done in any case")
	fl.StringP("compress", "C", "", "ignored")
	fl.Lookup("compress").NoOptDefVal = "default"
	fl.StringP("fanout", "F", "", "ignored")
	fl.StringP("size", "s", "", "ignored")
	fl.StringP("timeout", "t", "", "ignored")
	fl.StringVarP(&f.job, "jobid", "j", "", "job to copy to (default $SLURM_JOB_ID)")
	fl.StringVar(&f.libs, "send-libs", "no", "rejected: shared libraries are not sent")
	fl.Lookup("send-libs").NoOptDefVal = "yes"
	fl.CountVarP(&f.verbose, "verbose", "v", "say more")
	fl.BoolVar(&f.receive, "receive", false, "get DEST on this node")
	_ = fl.MarkHidden("receive") // it exists
}

func runSbcast(ctx context.Context, a *command.App, src, dest string, f *sbcastFlags) (err error) {
	if f.libs != "no" {
		return command.Usagef("--send-libs is not supported: copy the libraries with another command")
	}
	for _, name := range []string{"compress", "fanout", "size", "timeout"} {
		if f.set.Changed(name) {
			a.Note("note: --%s is ignored: mob has no use for it", name)
		}
	}
	if f.job == "" {
		f.job = a.Getenv("SLURM_JOB_ID")
	}
	nodes, _ := strconv.Atoi(a.Getenv("SLURM_JOB_NUM_NODES"))
	if f.job == "" || nodes < 1 {
		return errors.New("there is no Slurm job here: run the command in an allocation (salloc, sbatch)")
	}
	if strings.HasSuffix(dest, "/") {
		dest = filepath.Join(dest, filepath.Base(src))
	}
	if dest, err = filepath.Abs(dest); err != nil {
		return err
	}
	seed := seedFlags{node: f.node}
	if err := seed.check(src); err != nil {
		return command.Usagef("%w", err)
	}
	s, err := daemon.OwnSession(ctx, a, &f.node, func(*control.Client) bool { return true })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	_, err = s.Transfer(ctx, seed.Path)
	known := err == nil
	st, _, err := hashContent(ctx, a, s, seed.SeedRequest, f.verbose == 0)
	if err != nil {
		return err
	}
	if !known {
		defer func() { err = errors.Join(err, forget(ctx, s, st.ID)) }()
	}
	failed, err := sbcastRun(ctx, a, s, f, st, dest, nodes)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %s without %s: %s", len(failed), term.Plural(nodes, "node"), dest, strings.Join(failed, "; "))
	}
	a.Note("%s: %s on %s", dest, term.Bytes(st.Length), term.Plural(nodes, "node"))
	return nil
}

// sbcastRun has srun run the receivers, and returns what failed.
func sbcastRun(
	ctx context.Context, a *command.App, s *daemon.Session, f *sbcastFlags, st peer.Status, dest string, nodes int,
) (failed []string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n := strconv.Itoa(nodes)
	arg := []string{"--jobid=" + f.job, "--overlap", "--nodes=" + n, "--ntasks=" + n, "--ntasks-per-node=1", "--kill-on-bad-exit=0",
		exe, "sbcast", "--receive", "--data", a.Data}
	if f.force {
		arg = append(arg, "--force")
	}
	cmd := exec.CommandContext(ctx, "srun", append(arg, st.Root, dest)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(st.Link+"\n"), io.Discard // not in the arguments, which other users see
	if f.verbose > 0 {
		cmd.Stderr = a.Err
		a.Note("%s", strings.Join(cmd.Args, " "))
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // srun ends its tasks
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot run srun: %w", err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			lines <- in.Text()
		}
	}()
	p := a.Screen(true)
	p.StallAfter = term.StallInterval // nodes also send to each other
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	done := 0
	for open := true; open; {
		var line string
		select {
		case line, open = <-lines:
		case <-tick.C:
			if now, err := s.Transfer(ctx, st.ID); err == nil {
				p.Show(sbcastFrame(now.Traffic.WANOut+now.Traffic.LANOut, done, len(failed), nodes))
			}
		}
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "done":
			done++
			if f.verbose > 0 {
				a.Note("%s", rest)
			}
		case "failed":
			failed = append(failed, rest)
		}
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if silent := nodes - done - len(failed); silent > 0 {
		why := "srun ended"
		if err != nil {
			why = fmt.Sprintf("srun: %v", err)
		}
		for range silent {
			failed = append(failed, "a node that said nothing ("+why+"; see --verbose)")
		}
	}
	return failed, nil
}

// sbcastFrame shows the state of the nodes of a job. sent is the bytes that this node has sent.
func sbcastFrame(sent int64, done, failed, nodes int) term.State {
	text := fmt.Sprintf("%d of %s done, %d failed, %s sent", done, term.Plural(nodes, "node"), failed, term.Bytes(sent))
	return term.State{Text: text, At: [...]int64{sent, int64(done), int64(failed)}, Reason: text,
		Remedy: "do the nodes run the job (`squeue --steps`), and reach this one? --verbose shows what srun prints"}
}

// sbcastReceive gets DEST on a node, with the link from standard input, and prints a line about it.
func sbcastReceive(ctx context.Context, a *command.App, dest string, f *sbcastFlags) error {
	name := a.Getenv("SLURMD_NODENAME")
	if name == "" {
		name, _ = os.Hostname()
	}
	if err := sbcastGet(ctx, a, dest, f); err != nil {
		_, e := fmt.Fprintln(a.Out, "failed", name+":", command.OneLine(err.Error()))
		return errors.Join(err, e)
	}
	_, err := fmt.Fprintln(a.Out, "done", name)
	return err
}

func sbcastGet(ctx context.Context, a *command.App, dest string, f *sbcastFlags) (err error) {
	text, err := a.ReadArg("-")
	if err != nil {
		return err
	}
	link, err := proto.ParseLink(text)
	if err != nil {
		return err
	}
	s, err := daemon.OwnSession(ctx, a, &f.node, func(s *control.Client) bool {
		st, err := s.Transfer(ctx, link.String())
		return err != nil || st.Root == dest // otherwise the daemon has it elsewhere
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	req := control.GetRequest{Link: link.String(), Path: dest, GetOptions: peer.GetOptions{Reuse: f.force}}
	if _, err := fetch(ctx, a, s, req, true); err != nil {
		var e *control.Error
		if errors.As(err, &e) && e.Code == control.CodeExists {
			err = fmt.Errorf("%s exists already: replace it with --force", dest)
		}
		return err
	}
	return nil
}
