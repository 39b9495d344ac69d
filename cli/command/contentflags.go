package command

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

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

// ContentFlags are the flags of mob seed that choose how the content is cut and sent.
type ContentFlags struct {
	Plan, Strategy string // an algorithm and a strategy, or empty
	pieces         string
	coded          string // "", codedAuto, or k
}

// Add adds the flags.
func (f *ContentFlags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&f.pieces, "piece-length", "",
		"size of a piece, a power of two from 16KiB to 16MiB (default by the content's size)")
	fl.StringVar(&f.coded, "coded", "",
		"send coded blocks, with generations of `k` blocks, 2 to 255 (default by measurement)")
	fl.Lookup("coded").NoOptDefVal = codedAuto
	fl.StringVar(&f.Plan, "plan", "",
		"follow a plan for --topology, made by an `algorithm`: "+strings.Join(plan.Algorithms(), ", "))
	fl.StringVar(&f.Strategy, "strategy", "",
		"push coded blocks by permutations, within one cluster: "+strings.Join(proto.StrategyNames(), ", "))
}

// Check returns the piece length, 0 for the default, and the number of blocks in a generation, 0 for
// plain pieces. A torrent cannot be coded.
func (f *ContentFlags) Check(torrent bool) (pieceLength uint32, k int, err error) {
	k, err = f.checkCoding(torrent)
	if err = errors.Join(err, f.checkPlan()); err != nil || f.pieces == "" {
		return 0, k, err
	}
	n, err := humanize.ParseBytes(f.pieces)
	if err != nil || n < proto.MinPieceLength || n > proto.MaxPieceLength || n&(n-1) != 0 {
		return 0, 0, fmt.Errorf("--piece-length %q is not a power of two from 16KiB to 16MiB", f.pieces)
	}
	return uint32(n), k, nil
}

// checkCoding checks the flags of coded transfers.
func (f *ContentFlags) checkCoding(torrent bool) (k int, err error) {
	if f.coded == codedAuto {
		k = peer.CodedAuto
	} else if f.coded != "" {
		if k, err = strconv.Atoi(f.coded); err != nil || proto.CheckCodedK(k) != nil {
			return 0, fmt.Errorf("--coded=%s: must be a number of blocks from %d to %d, or --coded alone",
				f.coded, proto.MinCodedK, proto.MaxCodedK)
		}
	}
	if _, err := proto.ParseStrategy(f.Strategy); err != nil {
		return 0, fmt.Errorf("--strategy: %w", err)
	}
	flag := "--coded"
	if f.Strategy != "" {
		flag = "--strategy"
		k = cmp.Or(k, strategyK)
	}
	if k != 0 && torrent {
		return 0, fmt.Errorf("%s and --torrent are mutually exclusive: BitTorrent clients cannot read coded blocks", flag)
	}
	return k, nil
}

// checkPlan checks the algorithm.
func (f *ContentFlags) checkPlan() error {
	switch {
	case f.Plan == "":
		return nil
	case f.coded != "" || f.Strategy != "":
		return errors.New("--plan excludes --coded and --strategy: a transfer is planned or coded")
	}
	if err := plan.CheckAlgorithm(f.Plan); err != nil {
		return fmt.Errorf("--plan: %w", err)
	}
	return nil
}
