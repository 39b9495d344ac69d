package feed_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestPublishAndFollow publishes versions to a group and receives their heads: with the content in the head, after it, with a delta, and
// for content in memory.
func TestPublishAndFollow(t *testing.T) {
	t.Parallel()
	d := peertest.NewTracker()
	key, public, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	join := func(n *peer.Node) *group.Group {
		g, err := group.Join(t.Context(), n, group.Config{Key: feed.GroupKey(public)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		return g
	}
	source := d.Start(t, "A")
	from, to := join(source), join(d.Start(t, "B"))
	heads, err := feed.Follow(t.Context(), to, public, 0)
	if err != nil {
		t.Fatal(err)
	}
	var base *peer.Transfer
	large := randomBytes(4 << 20)
	changed := append([]byte{large[0] ^ 1}, large[1:]...)
	for i, content := range [][]byte{randomBytes(100), randomBytes(100_000), large, changed} {
		v, _ := peertest.Seed(t, source, filepath.Join(write(t, map[string][]byte{"file": content}), "file"), peer.SeedOptions{})
		sent, err := feed.Publish(t.Context(), from, key, v, base, "note")
		if err != nil {
			t.Fatal(err)
		}
		base = v
		h := <-heads
		inline := len(content)
		if inline > feed.DefaultPush {
			inline = 0
		}
		for inline > 0 && len(h.Inline) == 0 { // its content was late, and follows
			h = <-heads
		}
		if h.Seq != uint64(i+1) || h.Note != "note" || h.Link.Manifest != sent.Link.Manifest || len(h.Inline) != inline || h.Base != sent.Base {
			t.Errorf("version %d has %d bytes of %d, and base %d", h.Seq, len(h.Inline), len(content), h.Base)
		}
	}
	if h, err := feed.Follow(t.Context(), to, public, 3); err != nil {
		t.Error(err)
	} else if h := <-h; h.Seq != 4 || h.Base != 3 || h.Delta == nil {
		t.Errorf("a follower with version 3 gets %+v", h)
	}
	v, err := source.SeedBytes("file", randomBytes(100), peer.SeedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if sent, err := feed.Publish(t.Context(), from, key, v, nil, ""); err != nil || sent.Seq != 5 || sent.Link.Manifest != v.ID {
		t.Errorf("version in memory: %+v, %v", sent, err)
	}
}
