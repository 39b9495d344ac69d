package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// strategyK is the default number of blocks in a generation for permutation
// gossip. Each generation costs some rounds in addition to its blocks, so large ones are
// best. The default is a whole number of pieces of any length.
const strategyK = 192

// codedAuto is the value of --coded without a number.
const codedAuto = "auto"

// seedFlags are the flags of seed. Many are fields of its request.
type seedFlags struct {
	control.SeedRequest
	node        daemon.Flags
	wait        int
	pieces      string
	quiet       bool
	coded       string // "", codedAuto, or k
	torrentFile outFile
	plan        string // an algorithm, or empty
	topology    string
	set         *pflag.FlagSet
}

func (f *seedFlags) add(a *command.App, fl *pflag.FlagSet) {
	f.set = fl
	f.node.Add(a, fl)
	fl.IntVar(&f.wait, "wait", 0, "wait until this many other nodes are complete")
	fl.StringVar(&f.pieces, "piece-length", "",
		"size of a piece, a power of two from 16KiB to 16MiB (default by the content's size)")
	fl.StringVar(&f.coded, "coded", "",
		"send coded blocks, with generations of `k` blocks, 2 to 255 (default by measurement)")
	fl.Lookup("coded").NoOptDefVal = codedAuto
	fl.StringVar(&f.plan, "plan", "",
		"follow a plan for --topology, made by an `algorithm`: "+strings.Join(plan.Algorithms(), ", "))
	fl.StringVar(&f.Strategy, "strategy", "",
		"push coded blocks by permutations, within one cluster: "+strings.Join(proto.StrategyNames(), ", "))
	fl.BoolVar(&f.FollowLinks, "follow-links", false, "take what symbolic links lead to out of PATH")
	fl.BoolVar(&f.SkipUnreadable, "skip-unreadable", false, "leave out files and directories that cannot be read")
	fl.StringVar(&f.topology, "topology", "", "TOPOLOGY.toml that --plan plans for")
	fl.BoolVar(&f.Torrent, "torrent", false, "offer the content to BitTorrent clients too, with the same link")
	f.torrentFile.flag = "--torrent-file"
	fl.StringVar(&f.torrentFile.path, "torrent-file", "", "torrent file to write; implies --torrent")
	fl.BoolVarP(&f.torrentFile.force, "force", "f", false, "replace a file of --torrent-file that exists")
	f.node.AddBTTrackers(fl)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
}

// check checks the flags, and completes the request.
func (f *seedFlags) check(path string) (err error) {
	if f.Path, err = filepath.Abs(path); err != nil {
		return err
	}
	trackers, err := daemon.ParseTrackers(f.node.Trackers)
	if err != nil {
		return err
	}
	for _, t := range trackers {
		f.Trackers = append(f.Trackers, t.String())
	}
	f.Torrent, f.Announce = f.Torrent || f.torrentFile.path != "", f.node.BTTrackers
	if len(f.Announce) > 0 && !f.Torrent {
		return errors.New("--bt-tracker is for BitTorrent clients: give --torrent as well")
	}
	if err := errors.Join(f.checkCoding(), f.checkPlan()); err != nil {
		return err
	}
	if f.pieces == "" {
		return nil
	}
	n, err := humanize.ParseBytes(f.pieces)
	if err != nil || n < proto.MinPieceLength || n > proto.MaxPieceLength || n&(n-1) != 0 {
		return fmt.Errorf("--piece-length %q is not a power of two from 16KiB to 16MiB", f.pieces)
	}
	f.PieceLength = uint32(n)
	return nil
}

// checkTorrentFile reports why --torrent-file cannot be written for the content at a path.
func (f *seedFlags) checkTorrentFile(env *command.Env, path string) error {
	if f.torrentFile.path == "" {
		return nil
	}
	if err := f.torrentFile.check(env, filepath.Base(path)+".torrent"); err != nil {
		return fmt.Errorf("--torrent-file: %w", err)
	}
	return nil
}

// checkCoding checks the flags of coded transfers, and completes the request.
func (f *seedFlags) checkCoding() (err error) {
	if f.Coded, err = parseCoded(f.coded); err != nil {
		return err
	}
	if _, err := proto.ParseStrategy(f.Strategy); err != nil {
		return fmt.Errorf("--strategy: %w", err)
	}
	flag := "--coded"
	if f.Strategy != "" {
		flag = "--strategy"
		f.Coded = cmp.Or(f.Coded, strategyK)
	}
	if f.Coded != 0 && f.Torrent {
		return fmt.Errorf("%s and --torrent are mutually exclusive: BitTorrent clients cannot read coded blocks", flag)
	}
	return nil
}

// checkPlan checks the algorithm.
func (f *seedFlags) checkPlan() error {
	switch {
	case f.plan == "":
		return nil
	case f.coded != "" || f.Strategy != "":
		return errors.New("--plan excludes --coded and --strategy: a transfer is planned or coded")
	}
	if err := plan.CheckAlgorithm(f.plan); err != nil {
		return fmt.Errorf("--plan: %w", err)
	}
	return nil
}

// parseCoded returns the number of blocks in a generation for a value of --coded,
// 0 for plain pieces.
func parseCoded(text string) (int, error) {
	switch text {
	case "":
		return 0, nil
	case codedAuto:
		return peer.CodedAuto, nil
	}
	k, err := strconv.Atoi(text)
	if err != nil || proto.CheckCodedK(k) != nil {
		return 0, fmt.Errorf("--coded=%s: must be a number of blocks from %d to %d, or --coded alone",
			text, proto.MinCodedK, proto.MaxCodedK)
	}
	return k, nil
}
