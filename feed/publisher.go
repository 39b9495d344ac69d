package feed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

// DefaultPush is the size in bytes of the largest content that is cast. At 40 ms and 3 MB/s the swarm is faster from about 1.5 MB on.
const DefaultPush = 512 << 10

// MaxPush bounds what can be cast, in bytes.
const MaxPush = group.MaxMessage - contentHead

// PublishOptions are the options of [Feeds.Post].
type PublishOptions struct {
	// Push is the size in bytes of the largest content that is cast, at most [MaxPush]. 0 means [DefaultPush], a negative size that nothing is cast.
	Push int64  `json:"push,omitempty"`
	Note string `json:"note,omitempty"`
}

// publisher publishes a feed.
type publisher struct {
	*heads
	node    *peer.Node
	dir     string
	joined  time.Time             // zero for a new feed
	reports map[libpeer.ID]Report // guarded by heads.mu

	recording sync.Mutex // held while a head is recorded and becomes the newest one

	posting sync.Mutex     // held during a post; guards delta
	delta   *peer.Transfer // of the newest version, nil for none
}

// Files in the directory of a publisher, in addition to its key.
const (
	headFile  = "head"  // the signed head of the newest version
	deltaFile = "delta" // of the newest version, if it has one
)

func newPublisher(h *heads, n *peer.Node, dir string) (*publisher, error) {
	p := &publisher{heads: h, node: n, dir: dir, joined: time.Now(), reports: map[libpeer.ID]Report{}}
	path := filepath.Join(dir, headFile)
	signed, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	var newest *Head
	if err == nil {
		newest, err = openHead(signed, h.key)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: delete it, and the newest head comes from a follower", path, err)
	}
	h.newest = newest
	return p, nil
}

// run implements role.
func (p *publisher) run(ctx context.Context) {
	p.posting.Lock()
	go func() { // meanwhile newer heads arrive
		defer p.posting.Unlock()
		p.serveDelta(ctx)
	}()
	p.receive(ctx, p.handle)
	<-ctx.Done()
	p.posting.Lock()
	defer p.posting.Unlock()
	p.replaceDelta(nil)
}

// handle handles a message. A head that is newer than the publisher's own, which was lost or is from another node with the key,
// replaces that: no number is to be signed twice.
func (p *publisher) handle(m *group.Message) {
	signed, ok := headOf(m.Bytes)
	if !ok {
		p.addReport(m)
		return
	}
	p.recording.Lock()
	defer p.recording.Unlock()
	before := p.known()
	h := p.accept(m.From, signed)
	if h == nil {
		return
	}
	if before != nil && before.node == h.node && before.Time.After(h.Time) { // its state is from a backup
		p.log.Warn("no follower gets a version, since a newer one was posted before it: post it again", "version", before.Seq, "newest", h.Seq)
		p.mu.Lock()
		p.fork = fmt.Sprintf("no follower gets the version %d that was posted last, since version %d was posted before it: post it again", before.Seq, h.Seq)
		p.mu.Unlock()
	}
	if err := p.record(h); err != nil {
		p.log.Error("the newest head was not recorded", "version", h.Seq, "error", err)
	}
}

func (p *publisher) record(h *Head) error {
	return datadir.WriteFile(filepath.Join(p.dir, headFile), h.signed, 0o600)
}

// describe implements role.
func (p *publisher) describe(info *Info) {
	info.Followers = p.followers()
	info.Members = len(info.Followers)
	p.mu.Lock()
	defer p.mu.Unlock()
	if info.Error = p.fork; p.newest != nil {
		info.Newest, info.Complete = p.newest.Seq, p.newest.Seq
	}
}

// joinWait is the time in which a publisher that has started gets a newer head from the group, if it lost its own.
const joinWait = 2 * time.Second

// post signs the content of a complete transfer as the next version, and casts it to the group: the head, and the content if it is
// small. It blocks while a delta is made.
func (p *publisher) post(ctx context.Context, v *peer.Transfer, opt PublishOptions) (*Head, error) {
	select {
	case <-time.After(time.Until(p.joined.Add(joinWait))):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.posting.Lock()
	defer p.posting.Unlock()
	before := p.known()
	h, content, difference, err := prepare(ctx, p.node, before, v, opt,
		func() (*peer.Transfer, error) { return p.newDelta(ctx, v, before.Link) },
		func(h *Head) error { return p.sign(h, before) })
	if err != nil {
		return nil, err
	}
	p.replaceDelta(difference)
	return h, h.cast(ctx, p.group, content)
}

// prepare returns the signed head of the version after another one, which may be nil, content that is to be sent with the head or after
// it, and the delta, nil if there is none. makeDelta is only called if a delta may help.
func prepare(
	ctx context.Context, n *peer.Node, before *Head, v *peer.Transfer, opt PublishOptions,
	makeDelta func() (*peer.Transfer, error), sign func(*Head) error,
) (h *Head, content []byte, difference *peer.Transfer, err error) {
	h = &Head{Seq: 1, Time: time.Now(), Link: v.Link(), Note: opt.Note, node: n.Host().ID()}
	if before != nil {
		h.Seq = before.Seq + 1
	}
	if content, err = h.include(v, opt.Push); err != nil {
		return nil, nil, nil, err
	}
	if content == nil && before != nil {
		if difference, err = makeDelta(); err != nil {
			return nil, nil, nil, err
		}
		if difference != nil {
			h.Base, h.Delta = before.Seq, difference.Link()
		}
	}
	if err = checkSame(ctx, v); err == nil {
		err = sign(h)
	}
	if err != nil {
		if difference != nil {
			err = errors.Join(err, n.Release(difference))
		}
		return nil, nil, nil, err
	}
	return h, content, difference, nil
}

// cast sends a head to the group, and content that is not in it.
func (h *Head) cast(ctx context.Context, g *group.Group, content []byte) error {
	err := g.Cast(ctx, headMessage(h))
	if err == nil && h.push {
		err = g.Cast(ctx, contentMessage(h.Seq, content))
	}
	return err
}

// sign signs a head, and records it before it is cast. A publisher that forgets its head would sign another one with the same
// number.
func (p *publisher) sign(h, before *Head) error {
	key, err := datadir.LoadKey(p.dir)
	if err != nil {
		return err
	}
	if !key.GetPublic().Equals(p.key) {
		return fmt.Errorf("%s has another key than the feed: put the feed's key back", p.dir)
	}
	if err := h.seal(key); err != nil {
		return err
	}
	p.recording.Lock()
	defer p.recording.Unlock()
	if newest := p.known(); newest != before {
		return fmt.Errorf("version %d was posted by another node with the feed's key: post again", newest.Seq)
	}
	if err := p.record(h); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(h)
	return nil
}

// include adds the manifest and the content to a head, if they are short, and returns content that is to be sent with the head or
// after it.
func (h *Head) include(v *peer.Transfer, push int64) (content []byte, err error) {
	m := v.Manifest()
	st := v.Status()
	if m == nil || st.Phase != peer.Whole {
		return nil, errors.New("the content is not complete")
	}
	encoded, err := m.Encode()
	if err != nil {
		return nil, err
	}
	if len(encoded) <= maxManifest {
		h.Manifest = encoded
	}
	if push == 0 {
		push = DefaultPush
	}
	if m.Length() > max(push, maxInline) || st.Root == "" { // it was seeded from a pipe
		return nil, nil
	}
	if content, err = readAll(m, st.Root); err != nil {
		return nil, err
	}
	if h.push = len(content) > maxInline; !h.push {
		h.Inline = content
	}
	return content, nil
}

// readAll reads the content at a path, and fails if it has changed.
func readAll(m *proto.Manifest, root string) ([]byte, error) {
	b, pieces := make([]byte, m.Length()), delta.NewBase(m, opener(root))
	for i := range m.Pieces() {
		p := b[m.PieceOffset(i):][:m.PieceSize(i)]
		if !pieces.Read(i, p) || sha256.Sum256(p) != m.Hash(i) {
			return nil, fmt.Errorf("%s has changed since it was seeded", root)
		}
	}
	return b, nil
}

// checkSame fails if the files of a version have changed since they were seeded: followers could not fetch it.
func checkSame(ctx context.Context, v *peer.Transfer) error {
	root := v.Progress().Root
	if root == "" { // it was seeded from a pipe
		return nil
	}
	different, err := v.Differences(ctx)
	if err == nil && len(different) > 0 {
		err = fmt.Errorf("%s has changed since it was seeded: %s %s", root, different[0].Path, different[0].What)
	}
	return err
}
