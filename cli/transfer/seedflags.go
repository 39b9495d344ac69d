package transfer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/topology"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// seedFlags are the flags of seed. Many are fields of its request.
type seedFlags struct {
	control.SeedRequest
	node        daemon.Flags
	content     command.ContentFlags
	wait        int
	deadline    time.Duration
	quiet       bool
	torrentFile outFile
	topology    string
	set         *pflag.FlagSet
}

func (f *seedFlags) add(a *command.App, fl *pflag.FlagSet) {
	f.set = fl
	f.node.Add(a, fl)
	fl.StringVar(&f.Name, "name", "stdin", "name of the content of standard input")
	fl.IntVar(&f.wait, "wait", 0, "wait until this many other nodes are complete")
	fl.DurationVar(&f.deadline, "deadline", 0, "end --wait after `D`")
	f.content.Add(fl)
	fl.BoolVar(&f.FollowLinks, "follow-links", false, "take what symbolic links lead to out of PATH")
	fl.BoolVar(&f.SkipUnreadable, "skip-unreadable", false, "leave out files and directories that cannot be read")
	fl.StringVar(&f.topology, "topology", "", "TOPOLOGY.toml that --plan plans for")
	fl.BoolVar(&f.Torrent, "torrent", false, "offer the content to BitTorrent clients too, with the same link")
	f.torrentFile.flag = "--torrent-file"
	fl.StringVar(&f.torrentFile.path, "torrent-file", "", "torrent file to write; implies --torrent")
	fl.BoolVarP(&f.torrentFile.force, "force", "f", false, "replace a file of --torrent-file that exists")
	f.node.AddBTTrackers(fl)
	daemon.AddPriority(fl, &f.Priority)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
}

// check checks the argument and the flags, and completes the request.
func (f *seedFlags) check(a *command.App, path string) error {
	if err := f.complete(path); err != nil {
		return command.Usagef("%w", err)
	}
	if err := errors.Join(command.CheckPath(f.set, "torrent-file"), checkDeadline(f.set, f.deadline)); err != nil {
		return err
	}
	switch {
	case f.wait < 0:
		return command.Usagef("--wait %d: must not be negative", f.wait)
	case f.deadline > 0 && f.wait == 0:
		return command.Usagef("--deadline requires --wait")
	case (f.content.Plan == "") != (f.topology == ""):
		return command.Usagef("--plan and --topology go together: an algorithm, and the TOPOLOGY.toml to plan for")
	case f.Path == "":
		if err := a.CheckIn(); err != nil {
			return err
		}
		if err := proto.CheckName(f.Name); err != nil {
			return command.Usagef("--name: %w", err)
		}
		return nil
	case f.set.Changed("name"):
		return command.Usagef("--name is for standard input: give - as PATH")
	}
	return checkSeedable(f.Path)
}

// complete sets the fields of the request for a path, which is empty for standard input.
func (f *seedFlags) complete(path string) (err error) {
	if path != pipeArg {
		f.Name = "" // earlier daemons do not know the field
		if f.Path, err = command.AbsPath(path); err != nil {
			return err
		}
	}
	if f.Trackers, err = daemon.ParseTrackers(f.node.TrackerAddrs); err != nil {
		return err
	}
	f.Torrent, f.Announce = f.Torrent || f.torrentFile.path != "", f.node.BTTrackers
	if len(f.Announce) > 0 && !f.Torrent {
		return errors.New("--bt-tracker is for BitTorrent clients: give --torrent as well")
	}
	f.Strategy = f.content.Strategy
	f.PieceLength, f.Coded, err = f.content.Check(f.Torrent)
	return err
}

// readNetwork returns the topology that --plan plans for, nil without it.
func (f *seedFlags) readNetwork() (*plan.Topology, *plan.Network, error) {
	if f.content.Plan == "" {
		return nil, nil, nil
	}
	t, err := topology.Read(f.topology)
	if err != nil {
		return nil, nil, err
	}
	n, err := plan.NewNetwork(t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.topology, err)
	}
	return t, n, nil
}

// makePlan returns the encoded plan of a broadcast from the host of a node, which the topology may name by
// the node's id.
func (f *seedFlags) makePlan(t *plan.Topology, n *plan.Network, node *control.Info) ([]byte, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Hosts, func(h plan.Host) bool { return h.Name == name })
	}
	source := node.Host
	if !has(source) && has(node.ID) {
		source = node.ID
	}
	p, err := n.Plan(f.content.Plan, source, nil, 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (the node is the host %s: its --host names it)", f.topology, err, source)
	}
	return p.Document().Encode()
}
