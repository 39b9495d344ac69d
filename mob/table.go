package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// table has the facts of a node: its joined peers, its groups, and the pieces that it has, needs and fetches. Its
// methods answer questions, and set the times of the node. None sends anything.
type table struct {
	t      *Tuning
	layout Layout
	work   *assign.Assignment
	now    time.Time
	due    timer.Table

	stored   avail.Pieces
	complete bool // nothing is to be fetched: all pieces are stored, or the node only uploads

	wanted     *bitset.Set // neither stored, useless nor in fetches
	fetches    map[int]*fetch
	unassigned []*fetch // have bytes to request, and no peer
	waiting    []*fetch // claimed for a peer; they wait for other members' claims, and then for room

	levels
	peers  []*peer // joined, sorted by ID
	joined map[proto.PeerID]*peer
	ready  []*peer // that may have room, and a piece to request
}

func newTable(cfg *Config, layout Layout, have []proto.Range) table {
	t := table{
		t:        &cfg.Tuning,
		layout:   layout,
		work:     cfg.Assignment,
		stored:   avail.NewPieces(have, layout.Count),
		complete: cfg.UploadOnly,
		wanted:   bitset.New(layout.Count),
		fetches:  map[int]*fetch{},
		joined:   map[proto.PeerID]*peer{},
	}
	if t.work == nil {
		t.work = assign.Follow(nil, "")
	}
	return t
}
