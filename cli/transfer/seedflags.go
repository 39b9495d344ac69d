package transfer

import (
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

// seedFlags are the flags of seed.
type seedFlags struct {
	node        daemon.Flags
	wait        int
	pieces      string
	quiet       bool
	followLinks bool
	skip        bool   // what may not be read
	coded       string // "", codedAuto, or k
	strategy    string // a kind of permutation gossip, or empty
	torrent     bool
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
	fl.StringVar(&f.strategy, "strategy", "",
		"push coded blocks by permutations, within one cluster: "+strings.Join(proto.StrategyNames(), ", "))
	fl.BoolVar(&f.followLinks, "follow-links", false, "take what symbolic links lead to out of PATH")
	fl.BoolVar(&f.skip, "skip-unreadable", false, "leave out files and directories that cannot be read")
	fl.StringVar(&f.topology, "topology", "", "TOPOLOGY.toml that --plan plans for")
	fl.BoolVar(&f.torrent, "torrent", false, "offer the content to BitTorrent clients too, with the same link")
	f.torrentFile.flag = "--torrent-file"
	fl.StringVar(&f.torrentFile.path, "torrent-file", "", "torrent file to write; implies --torrent")
	fl.BoolVarP(&f.torrentFile.force, "force", "f", false, "replace a file of --torrent-file that exists")
	f.node.AddBTTrackers(fl)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
}

// request checks the flags.
func (f *seedFlags) request(path string) (req control.SeedRequest, err error) {
	req.FollowLinks, req.SkipUnreadable = f.followLinks, f.skip
	req.Path, err = filepath.Abs(path)
	if err != nil {
		return req, err
	}
	trackers, err := daemon.ParseTrackers(f.node.Trackers)
	if err != nil {
		return req, err
	}
	for _, t := range trackers {
		req.Trackers = append(req.Trackers, t.String())
	}
	if err := f.setTorrent(&req); err != nil {
		return req, err
	}
	if err := f.setCoding(&req); err != nil {
		return req, err
	}
	if err := f.checkPlan(); err != nil {
		return req, err
	}
	if f.pieces == "" {
		return req, nil
	}
	n, err := humanize.ParseBytes(f.pieces)
	if err != nil || n < proto.MinPieceLength || n > proto.MaxPieceLength || n&(n-1) != 0 {
		return req, fmt.Errorf("--piece-length %q is not a power of two from 16KiB to 16MiB", f.pieces)
	}
	req.PieceLength = uint32(n)
	return req, nil
}

// setTorrent sets what is for BitTorrent clients.
func (f *seedFlags) setTorrent(req *control.SeedRequest) error {
	req.Torrent, req.Announce = f.torrent || f.torrentFile.path != "", f.node.BTTrackers
	if len(req.Announce) > 0 && !req.Torrent {
		return errors.New("--bt-tracker is for BitTorrent clients: give --torrent as well")
	}
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

// setCoding sets how the content is coded.
func (f *seedFlags) setCoding(req *control.SeedRequest) (err error) {
	req.Coded, err = parseCoded(f.coded)
	if err != nil {
		return err
	}
	if _, err := proto.ParseStrategy(f.strategy); err != nil {
		return fmt.Errorf("--strategy: %w", err)
	}
	req.Strategy = f.strategy
	if req.Strategy != "" && req.Coded == 0 {
		req.Coded = strategyK
	}
	if req.Coded == 0 || !req.Torrent {
		return nil
	}
	flag := "--coded"
	if f.strategy != "" {
		flag = "--strategy"
	}
	return fmt.Errorf("%s and --torrent are mutually exclusive: BitTorrent clients cannot read coded blocks", flag)
}

// checkPlan checks the algorithm.
func (f *seedFlags) checkPlan() error {
	switch {
	case f.plan == "":
		return nil
	case f.coded != "" || f.strategy != "":
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
		return 0, fmt.Errorf("--coded=%s: want a number of blocks from %d to %d, or --coded alone",
			text, proto.MinCodedK, proto.MaxCodedK)
	}
	return k, nil
}
