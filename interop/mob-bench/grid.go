package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

const gridHelp = `Runs systems in turn on a grid of Linux network namespaces, each with the same content
from the first node of cluster A to all other nodes, and prints a table. It needs
root, and mob and mobd beside mob-bench.

The other systems are packages of the distribution: aria2, libtorrent, transmission,
rtorrent, taktuk, udpcast; missing ones are named and left out. The content and all copies
are in a directory in $TMPDIR, which is removed.

mob:cast is mob cast to nodes with nothing but a server of ssh, from openssh-server: the
time includes the logins and copying the program. With mob:cast:there the nodes have the program already; mob:cast:stream casts
standard input into a command. Beside it run scp in a loop, tar through ssh in a tree,
taktuk, udpcast (in one cluster) and kascade, if a program of that name is on the path.

Options of mob seed follow mob and a colon: mob:coded=32 seeds with --coded=32,
mob:coded=32:piece-length=1MiB with two of them.

With racks, as in --clusters '2x(4x5)', nodes have names of clusters such as A/r1, and all
that goes into a rack and out of it shares its --rack-uplink. In mob:site nodes know their
site only.

In mob:pipe all receivers get to standard output, see mob get -o -.

In mob:plan=balanced the transfer follows a plan (mob-bench plan --help lists the algorithms). It
is made for the links as they are in scenario fast, or for given ones, whatever they do
then. In mob:shuffled:plan=chain the plan is made without racks and clusters.

A link's rate counts Ethernet frames, so TCP payload can reach 0.956 of the bound.
"machine" is the load of all cores: near 100 % they are the limit, not the links.

Exit status: 0 done; 1 a system failed, or --check found something; 2 usage error;
130 interrupted.`

const gridExample = `  mob-bench grid --systems mob,aria2,libtorrent,transmission,rtorrent --clusters 4x4 --size 240MB
  mob-bench grid --systems mob,aria2 --clusters 4,12,16,32 --size 120MB --scenario mayhem --repeat 3
  mob-bench grid --systems mob,mob:coded,mob:coded=32,aria2 --repeat 3
  mob-bench grid --systems mob:cast,mob:cast:there,kascade,udpcast --clusters 20 --nic 12.5MB --size 200MB
  mob-bench grid --systems mob,mob:site --clusters '2x(2x4)' --rack-uplink 12.5MB --size 120MB
  mob-bench grid --systems mob,mob:plan=balanced,mob:plan=chain --scenario mayhem
  mob-bench grid --systems mob,aria2 --rtt 100ms --slow-node C2=0.5MB --kill 10%@5s+2s --verbose
  mob-bench grid --systems mob,aria2 --rtt 60ms --loss 0.5% --congestion bbr --size 120MB
  mob-bench grid --systems mob,aria2 --clusters 20 --nic 12.5MB --size 200MB`

func newGrid(a *command.App) *cobra.Command {
	var f commonFlags
	return a.Command(command.Spec{
		Use: "grid", Short: "Compare with other systems on real, shaped links", Long: gridHelp, Example: gridExample, JSON: true,
		Flags: f.addGrid,
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			c, err := f.benchCase()
			if err != nil {
				return command.Usagef("%w", err)
			}
			systems, err := parseSystems(f.systems)
			if err != nil {
				return command.Usagef("%w", err)
			}
			return runGrid(ctx, a, &f, c, systems)
		},
	})
}

// addGrid adds the flags of mob-bench grid.
func (f *commonFlags) addGrid(fl *pflag.FlagSet) {
	f.add(fl, "what to run: "+strings.Join(systemNames(), ",")+", with options of mob seed such as mob:coded=32, and mob:site")
	fl.StringVar(&f.loss, "loss", "", "share of packets lost at random between clusters, each way, such as 0.5%")
	fl.StringVar(&f.congestion, "congestion", "cubic", "TCP congestion control of all nodes by default, such as bbr; with cubic-only programs cannot choose another")
	fl.StringVar(&f.dualNIC, "dual-nic", "", "rate of a second NIC per node for all that goes to other clusters, such as 2.5MB")
}

// runGrid runs the systems, also after one has failed.
func runGrid(ctx context.Context, a *command.App, f *commonFlags, c bench.Case, systems []bench.System) error {
	if err := netns.Available(); err != nil {
		return err
	}
	r, err := gridReport(ctx, a, f, c, systems)
	if err != nil {
		return err
	}
	return f.finish(a, r, systems)
}

// gridReport runs the systems that are installed.
func gridReport(ctx context.Context, a *command.App, f *commonFlags, c bench.Case, systems []bench.System) (*bench.Report, error) {
	var installed []bench.System
	var leftOut []bench.LeftOut
	for _, s := range systems {
		if err := s.Missing(); err != nil {
			a.Note("%s is left out: %v", s.Name(), err)
			leftOut = append(leftOut, bench.LeftOut{System: s.Name(), Why: err.Error()})
			continue
		}
		installed = append(installed, s)
	}
	if len(installed) == 0 {
		return nil, fmt.Errorf("%s: %s", leftOut[0].System, leftOut[0].Why)
	}
	r, err := runCase(ctx, a, f, c, installed)
	if err == nil {
		r.LeftOut = leftOut
	}
	return r, err
}

// runCase makes the content of a case and runs the systems in turn, so that a change of load on the
// machine affects all of them.
func runCase(ctx context.Context, a *command.App, f *commonFlags, c bench.Case, systems []bench.System) (r *bench.Report, err error) {
	b, err := bench.NewBench(ctx, c, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r = b.NewReport()
	a.Note("%s", r.Case)
	for i := range f.repeat {
		for _, s := range systems {
			name := f.runName(s.Name(), i)
			p := a.Screen(false)
			b.Show = func(progress string) { p.Show(term.Text(name + ": " + progress)) }
			run := b.Run(ctx, s)
			p.Clear()
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.Add(s.Name(), run)
			a.Note("%s: %s", name, run)
		}
	}
	return r, nil
}
