package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/address"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const seedHelp = `Hashes a file or folder where it lies, serves it from there, and prints its link
alone on standard output.

The daemon of --data serves it from then on. When there is none, a node runs within
the command until Ctrl-C. The content must not change while it is served.

--wait N returns when N other nodes have all of it, as far as the trackers know.

--torrent offers the content to BitTorrent clients too: the same link is a magnet link
for them, with the trackers of --bt-tracker. --torrent-file writes a torrent file as
well. Symbolic links, empty folders, modes and times have no place in a torrent.

--coded makes the transfer a coded one: nodes send each other random linear
combinations of k blocks (RLNC), of which any k will do. Clusters that fetch from one
node at a time then never fetch the same. It costs CPU. k is chosen by how fast this
machine codes and its network is, or given: --coded=32. The link says so to the others.

--strategy is for one cluster of like machines: nodes send each other coded blocks by
permutations handed out in advance (Cooper), and nobody asks for blocks. The kinds are
permutation, one generation after the other; overlap1 and overlap2, which overlap them;
and rb, with plain blocks, to compare with. Generations have 192
blocks, or what --coded=k says: large ones are best.`

const seedExample = `  mob seed big.tar --tracker /ip4/192.0.2.7/tcp/4000/p2p/12D3KooW...
  LINK=$(mob seed /data/models)
  mob seed big.tar --tracker "$TRACKER" --wait 15
  mob seed big.tar --torrent-file big.tar.torrent --bt-tracker http://192.0.2.7:6969/announce
  mob seed big.tar --tracker "$TRACKER" --coded=16
  mob seed big.tar --tracker "$TRACKER" --strategy overlap2`

// seedFlags are the flags of seed.
type seedFlags struct {
	node   nodeFlags
	wait   int
	pieces string
	quiet  bool
	coded  string // "", "auto", or k
	// strategy is the name of a kind of permutation gossip, or empty.
	strategy string
	// torrent offers the content to BitTorrent clients, file is for a torrent file.
	torrent bool
	file    string
}

func newSeed(g *global) *cobra.Command {
	var f seedFlags
	cmd := &cobra.Command{
		Use: "seed PATH", Short: "Serve a file or folder, and print its link", Long: seedHelp, Example: seedExample,
		Args: args(1, "PATH"),
		RunE: func(cmd *cobra.Command, given []string) error { return g.seed(cmd, given[0], &f) },
	}
	f.node.flags(g, cmd)
	cmd.Flags().IntVar(&f.wait, "wait", 0, "wait until so many other nodes have all of it")
	f.contentFlags(cmd.Flags())
	cmd.Flags().BoolVar(&f.torrent, "torrent", false, "offer it to BitTorrent clients too, by the same link")
	cmd.Flags().StringVar(&f.file, "torrent-file", "", "write a torrent file as well; implies --torrent")
	f.node.btTrackerFlag(cmd.Flags())
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	g.jsonFlag(cmd)
	return cmd
}

// contentFlags adds the flags that say how the content is cut and sent. What mob bench
// compares may have them.
func (f *seedFlags) contentFlags(fl *pflag.FlagSet) {
	fl.StringVar(&f.pieces, "piece-length", "", "size of a piece, a power of two from 64KiB to 16MiB (default by the content's size)")
	fl.StringVar(&f.coded, "coded", "", "code the transfer, with generations of `k` blocks, 2 to 255 (default by measurement)")
	fl.Lookup("coded").NoOptDefVal = codedAuto
	fl.StringVar(&f.strategy, "strategy", "", "send coded blocks by permutations, within one cluster: "+strings.Join(proto.StrategyNames(), ", "))
}

func (g *global) seed(cmd *cobra.Command, path string, f *seedFlags) (err error) {
	req, err := f.request(path)
	if err != nil {
		return wrong(cmd, "%w", err)
	}
	if _, err := os.Stat(req.Path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("nothing is at %s", req.Path)
	}
	s, err := g.dialOrRun(cmd, &f.node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if f.wait > 0 && len(req.Trackers)+len(s.Info.Trackers) == 0 {
		return errors.New("--wait needs a tracker, which counts the nodes: give --tracker")
	}
	ctx := cmd.Context()
	st, err := g.hash(ctx, s, req, f.quiet)
	if err != nil {
		return err
	}
	if s.own != nil {
		defer func() { err = errors.Join(err, s.forget(ctx, st.ID)) }()
	}
	if err := g.writeTorrent(ctx, s, st, f); err != nil {
		return err
	}
	if err := g.printLink(st); err != nil {
		return err
	}
	switch {
	case f.wait > 0:
		return g.waitWhole(ctx, s, st, f)
	case s.own != nil:
		g.note("serving %s until Ctrl-C", st.Name)
		return g.serve(ctx, s, st)
	}
	return nil
}

// request checks the flags.
func (f *seedFlags) request(path string) (req control.SeedRequest, err error) {
	if req.Path, err = filepath.Abs(path); err != nil {
		return req, err
	}
	trackers, err := address.ParseTrackers(f.node.trackers)
	if err != nil {
		return req, err
	}
	for _, t := range trackers {
		req.Trackers = append(req.Trackers, t.String())
	}
	req.Torrent, req.BTTrackers = f.torrent || f.file != "", f.node.btTrackers
	if len(req.BTTrackers) > 0 && !req.Torrent {
		return req, errors.New("--bt-tracker is for BitTorrent clients: give --torrent as well")
	}
	if req.Coded, err = f.generations(); err != nil {
		return req, err
	}
	if _, err := proto.ParseStrategy(f.strategy); err != nil {
		return req, fmt.Errorf("--strategy: %w", err)
	}
	if req.Strategy = f.strategy; req.Strategy != "" && req.Coded == 0 {
		req.Coded = strategyK
	}
	if req.Coded != 0 && req.Torrent {
		return req, errors.New("--coded and --torrent exclude each other: BitTorrent clients take plain pieces only")
	}
	if fi, err := os.Stat(filepath.Dir(f.file)); f.file != "" && (err != nil || !fi.IsDir()) {
		return req, fmt.Errorf("--torrent-file: the folder %s is not there", filepath.Dir(f.file)) // before hours of hashing
	}
	if f.pieces == "" {
		return req, nil
	}
	n, err := humanize.ParseBytes(f.pieces)
	if err != nil || n < proto.MinSeedPieceLength || n > proto.MaxPieceLength || n&(n-1) != 0 {
		return req, fmt.Errorf("--piece-length %q is no power of two from 64KiB to 16MiB", f.pieces)
	}
	req.PieceLength = uint32(n)
	return req, nil
}

// strategyK is the size of generations for permutations, when none is given: each costs
// some rounds beside its blocks, so large ones are best. This one is whole pieces of any
// length.
const strategyK = 192

// codedAuto is what --coded without a number stands for.
const codedAuto = "auto"

// generations is how many source blocks a generation has, by --coded.
func (f *seedFlags) generations() (int, error) {
	switch f.coded {
	case "":
		return 0, nil
	case codedAuto:
		return peer.CodedAuto, nil
	}
	k, err := strconv.Atoi(f.coded)
	if err != nil || proto.CheckCodedK(k) != nil {
		return 0, fmt.Errorf("--coded=%s: want a number of blocks from %d to %d, or --coded alone", f.coded, proto.MinCodedK, proto.MaxCodedK)
	}
	return k, nil
}

// hash has the content hashed and shows how that goes.
func (g *global) hash(ctx context.Context, s *session, req control.SeedRequest, quiet bool) (peer.Status, error) {
	p := g.newProgress()
	defer p.clear()
	began := time.Now()
	return s.Seed(ctx, req, func(done, total int64) {
		if !quiet && total > 0 {
			p.show(hashFrame{filepath.Base(req.Path), done, total, time.Since(began)})
		}
	})
}

// printLink prints the link of a content.
func (g *global) printLink(st peer.Status) error {
	if !g.json {
		_, err := fmt.Fprintln(g.Out, st.Link)
		return err
	}
	out := map[string]any{"link": st.Link, "id": st.ID, "name": st.Name, "path": st.Root,
		"bytes": st.Length, "pieces": st.Pieces, "piece_length": st.PieceLength}
	if st.InfoHash != "" {
		out["info_hash"] = st.InfoHash
	}
	if st.Coded > 0 {
		out["coded"] = st.Coded
	}
	if st.Strategy != "" {
		out["strategy"] = st.Strategy
	}
	return format.JSON(g.Out, out)
}

// serve waits for the interrupt, and tells when the content is found to have
// changed.
func (g *global) serve(ctx context.Context, s *session, st peer.Status) error {
	var damaged int64
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		now, err := s.Transfer(ctx, st.ID)
		if err != nil {
			return err
		}
		if now.Damaged > damaged {
			damaged = now.Damaged
			g.note("warning: %s has changed: %s no longer served; seed it again", st.Root, format.Count(int(damaged), "piece"))
		}
		if now.Error != "" {
			return errors.New(now.Error)
		}
	}
}

// forget takes a content that was seeded for the time of a command out of the
// list that the next daemon would take up.
func (s *session) forget(ctx context.Context, id string) error {
	return apart(ctx, func(ctx context.Context) error {
		_, err := s.Remove(ctx, id, false)
		return err
	})
}

// hashFrame shows how far hashing is.
type hashFrame struct {
	name        string
	done, total int64
	took        time.Duration
}

func (f hashFrame) picture(width int) []string {
	facts := fmt.Sprintf(" %3d%% of %s hashed, %s", format.Percent(f.done, f.total), format.Size(f.total), f.pace())
	return []string{f.name, "  " + format.Bar(f.done, f.total, max(10, min(width-len(facts)-6, 50))) + facts}
}

func (f hashFrame) line() string {
	return fmt.Sprintf("%s: %d%% of %s hashed, %s", f.name, format.Percent(f.done, f.total), format.Size(f.total), f.pace())
}

// pace is the rate so far, and the time left at that rate.
func (f hashFrame) pace() string {
	r := format.Average(f.done, f.took)
	if left := f.total - f.done; left > 0 && r > 0 {
		return format.Rate(r) + ", " + format.Span(time.Duration(float64(left)/float64(r)*float64(time.Second))) + " left"
	}
	return format.Rate(r)
}
