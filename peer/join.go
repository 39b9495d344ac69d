package peer

import (
	"errors"
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// JoinOptions are the options of [Node.Join].
type JoinOptions struct {
	// Seed says that the store has every piece. Then nothing is fetched.
	Seed bool
	// Finder finds the members of the swarm, in place of the trackers of the link and of the node.
	// The transfer does not close it.
	Finder Finder
	// Patience is how long a member may take to answer before others do its part of the work. It may
	// join later. 0 means as long as in other transfers, which have the time.
	Patience time.Duration
}

// errJoined is returned for a content whose bytes are the caller's of [Node.Join].
var errJoined = errors.New("the content is in use by another part of this program, which keeps its bytes elsewhere")

// Join takes part in the swarm of a content whose bytes are in a store of the caller's. manifest is the
// encoded manifest, which the link names. Join waits neither for the disk nor for the network:
// [Transfer.Wait] does, and a seed accepts peers once that has returned.
//
// Nothing of the transfer is in the data folder: the next node with that folder does not know it, and
// once it is stopped it stays so, until it is removed. The caller closes the store after that.
func (n *Node) Join(link *proto.Link, manifest []byte, st store.Store, opt JoinOptions) (*Transfer, error) {
	if !link.Manifest.Defined() {
		return nil, errNoContent
	}
	t := newTransfer(n, link.Manifest, metadata.Record{Link: link, Seed: opt.Seed, Whole: opt.Seed, Added: time.Now()})
	t.joined = &joined{st, opt.Finder, opt.Patience}
	t.mu.desc = metadata.NewDescription("", t.ID, link.InfoHash, nil)
	if err := t.mu.desc.SetManifest(manifest); err != nil {
		return nil, err
	}
	if opt.Seed && st.Count() < t.mu.desc.Manifest().Pieces() {
		return nil, store.ErrNotWhole
	}
	done, err := t.operate()
	if err != nil {
		return nil, err
	}
	defer done()
	n.mu.Lock()
	known := n.find(link.Keys())
	if known == nil {
		n.transfers[t.ID] = t
	}
	n.mu.Unlock()
	if known != nil {
		return nil, errors.New("the node has a transfer of this content already")
	}
	t.start(false)
	return t, nil
}

// joined is what the caller of [Node.Join] brought.
type joined struct {
	store  store.Store
	finder Finder // nil for those of the link and of the node
	// patience is 0 for that of other transfers.
	patience time.Duration
}
