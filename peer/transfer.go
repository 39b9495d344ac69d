package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Transfer is one content at one node: seeded, being fetched, or both. Its
// methods may be called from any goroutine.
//
//	seeking -> checking -> fetching -> whole
//	   |          |           |          |
//	   +----------+-----------+----------+---> stopped | failed
type Transfer struct {
	// ID is the name that the content had when the transfer began: the id of its
	// manifest, or of its info-hash.
	ID   cid.Cid
	node *Node
	note func(waiting string) // is told what it waits for, in words

	mu struct {
		sync.Mutex
		rec      metadata.Record
		link     *proto.Link // of rec
		desc     *metadata.Description
		phase    Phase
		waiting  string // what it waits for, in words
		err      error  // why it failed or stopped
		swarm    *swarm
		checked  int64 // bytes that were hashed again, of toCheck
		toCheck  int64
		began    time.Time
		finished time.Time
		cancel   context.CancelCauseFunc
		whole    chan struct{} // closed when every piece is there
		ended    chan struct{} // closed when nothing runs; nil before the start
	}
}

// Phase is how far a transfer is.
type Phase string

// The phases.
const (
	Seeking  Phase = "seeking"  // what the content is, is not known yet
	Checking Phase = "checking" // pieces on disk are hashed again
	Fetching Phase = "fetching"
	Whole    Phase = "whole" // and served
	Stopped  Phase = "stopped"
	Failed   Phase = "failed"
)

func newTransfer(n *Node, id cid.Cid, r metadata.Record) *Transfer {
	t := &Transfer{ID: id, node: n}
	t.note = t.wait
	t.mu.phase, t.mu.err = Stopped, ErrStopped
	t.remember(r)
	t.mu.desc = metadata.NewDescription(n.transferDir(id), id, t.mu.link.InfoHash, n.cfg.Torrents)
	t.mu.whole = make(chan struct{})
	return t
}

// start runs the transfer. reuse lets it take over what is at its root.
func (t *Transfer) start(reuse bool) {
	ctx, cancel := context.WithCancelCause(t.node.ctx)
	ended := make(chan struct{})
	t.mu.Lock()
	t.mu.desc = metadata.NewDescription(t.node.transferDir(t.ID), t.ID, t.mu.link.InfoHash, t.node.cfg.Torrents)
	t.mu.phase, t.mu.err, t.mu.waiting = Seeking, nil, ""
	t.mu.began, t.mu.finished = time.Now(), time.Time{}
	t.mu.cancel, t.mu.ended = cancel, ended
	t.mu.whole = make(chan struct{})
	t.mu.Unlock()
	t.node.wg.Go(func() {
		defer close(ended)
		err := t.run(ctx, reuse)
		cancel(nil)
		t.end(err)
	})
}

func (t *Transfer) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.swarm != nil {
		t.mu.rec.Have, t.mu.rec.Bytes = t.mu.swarm.have()
		if err := t.mu.rec.Save(t.node.transferDir(t.ID)); err != nil {
			t.node.log.Error("transfer record", "content", t.ID.String(), "error", err)
		}
	}
	t.mu.swarm, t.mu.cancel = nil, nil
	t.mu.phase, t.mu.err = Failed, explain(err)
	if errors.Is(err, ErrStopped) || errors.Is(err, errClosing) {
		t.mu.phase = Stopped
		return
	}
	t.node.log.Error("transfer failed", "content", t.ID.String(), "error", err)
}

// run is the life of a transfer. It returns why it ended, never nil.
func (t *Transfer) run(ctx context.Context, reuse bool) error {
	if _, err := proto.ParseLink(t.record().Link); err != nil {
		return err
	}
	finder := t.node.finder(t.link())
	if finder != nil {
		defer finder.Close()
	}
	members, err := t.describe(ctx, finder)
	if err != nil {
		return err
	}
	v := store.NewVerifier(t.Manifest())
	st, err := t.openStore(ctx, v, reuse)
	if err != nil {
		return err
	}
	s := newSwarm(t, finder, v, st)
	if err := s.codeAs(t.link()); err != nil {
		return errors.Join(err, st.Close())
	}
	if between := t.node.cfg.Exchange; between != nil {
		s.form.Exchange = between(t.link(), s.form)
	}
	err = t.runSwarm(ctx, s, members)
	return errors.Join(err, st.Close())
}

// runSwarm runs a swarm until it ends, and returns why.
func (t *Transfer) runSwarm(ctx context.Context, s *swarm, members []proto.Member) error {
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	t.mu.Lock()
	t.mu.phase, t.mu.swarm, t.mu.waiting = Fetching, s, ""
	t.mu.Unlock()
	announced := make(chan struct{})
	go func() {
		defer close(announced)
		s.announce(members)
	}()
	s.wg.Go(func() { s.bootstrap(transport.AddrInfos(t.link().Peers, t.node.host.ID())) })
	s.wg.Go(s.checkComplaints)
	if !t.InfoHash().IsZero() && t.Torrent() == nil {
		s.wg.Go(func() { t.fetcher(s.finder).FetchTorrent(s.ctx, s.connected, members) })
	}
	if beside := t.node.cfg.Beside; beside != nil {
		s.wg.Go(func() { beside(s.ctx, t) })
	}
	for i := range s.workers {
		s.wg.Go(func() { s.workers.Work(s.ctx, &s.form, i) })
	}
	s.loop()
	s.wg.Wait()
	<-announced
	return context.Cause(s.ctx)
}

// complete makes a fetched content final, once every piece is stored.
func (t *Transfer) complete(s *swarm) {
	if !t.record().Seed {
		if err := s.st.Publish(); err != nil {
			s.fail(fmt.Errorf("finish: %w", err))
			return
		}
	}
	t.markWhole(s)
	if t.Description().Plain() {
		s.wg.Go(func() { t.publish(s) })
	}
	if !t.record().Seed {
		// The user has the content by now. Only a crash of the machine before
		// this has an end makes pieces doubtful, as it does with any copy.
		if err := s.st.Finish(); err != nil && !errors.Is(err, os.ErrClosed) {
			s.fail(fmt.Errorf("flush to disk: %w", err))
		}
	}
}

func (t *Transfer) markWhole(s *swarm) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.phase, t.mu.finished = Whole, time.Now()
	t.mu.rec.Whole = true
	if err := t.mu.rec.Save(t.node.transferDir(t.ID)); err != nil {
		s.log.Error("transfer record", "error", err)
	}
	close(t.mu.whole)
}

// Wait blocks until the content is whole, the transfer has failed or was
// stopped, or ctx ends.
func (t *Transfer) Wait(ctx context.Context) error {
	t.mu.Lock()
	whole, ended := t.mu.whole, t.mu.ended
	t.mu.Unlock()
	select {
	case <-whole:
		return nil
	default:
	}
	select {
	case <-whole:
		return nil
	case <-ended:
		select {
		case <-whole:
			return nil
		default:
			return t.Err()
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Err is why the transfer failed or stopped, nil while it runs.
func (t *Transfer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.err
}

// Stop ends the transfer and waits for that. What is there is kept, and the
// node does not take it up again by itself.
func (t *Transfer) Stop() error {
	t.halt(ErrStopped)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.rec.Stopped = true
	return t.mu.rec.Save(t.node.transferDir(t.ID))
}

// halt ends what runs and waits for it.
func (t *Transfer) halt(why error) {
	t.mu.Lock()
	cancel, ended := t.mu.cancel, t.mu.ended
	t.mu.Unlock()
	if cancel != nil {
		cancel(why)
	}
	if ended != nil {
		<-ended
	}
}

func (t *Transfer) running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.cancel != nil
}

func (t *Transfer) record() metadata.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.rec
}

// wait keeps what the transfer waits for, for its status.
func (t *Transfer) wait(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.waiting = what
}

// Description is what is known of the content besides its bytes.
func (t *Transfer) Description() *metadata.Description {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.desc
}

// Manifest is the one by which the content's pieces are verified, nil while it is not
// there. It must not be changed.
func (t *Transfer) Manifest() *proto.Manifest { return t.Description().Manifest() }

// NodeID is the libp2p id of the node.
func (t *Transfer) NodeID() string { return t.node.host.ID().String() }

// Link is how others get the content.
func (t *Transfer) Link() string { return t.record().Link }

func (t *Transfer) link() *proto.Link {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.link
}

// keys are the names of the content's swarm.
func (t *Transfer) keys() []cid.Cid { return t.link().Keys() }

// remember sets the record, for which the caller has the lock.
func (t *Transfer) remember(r metadata.Record) {
	link, err := proto.ParseLink(r.Link)
	if err != nil {
		link = new(proto.Link) // run will say why
	}
	t.mu.rec, t.mu.link = r, link
}
