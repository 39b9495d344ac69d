package feed

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestFollow sends heads of all kinds to a follower: it takes each version once, the newest one, and warns of another head of that version.
func TestFollow(t *testing.T) {
	t.Parallel()
	d, key := peertest.NewTracker(), newKey(t)
	var groups [2]*group.Group
	for i := range groups {
		g, err := group.Join(t.Context(), d.Start(t, "A"), group.Config{Key: GroupKey(key.GetPublic())})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		groups[i] = g
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heads, err := Follow(ctx, groups[1], key.GetPublic(), 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the two are members", func() bool { return len(groups[0].Members()) == 1 })
	message := func(signed []byte) []byte { return append([]byte{kindHead}, signed...) }
	for _, m := range [][]byte{
		{}, {kindHead}, {kindContent}, {9, 9}, message([]byte("not a head")),
		message(sealed(t, newKey(t), 7, "of another key")),
		message(sealed(t, key, 1, "an old one")),
		message(sealed(t, key, 3, "new")),
	} {
		if err := groups[0].Cast(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if h := <-heads; h.Seq != 3 || h.Note != "new" {
		t.Errorf("the first head is %+v", h)
	}
	for _, m := range [][]byte{
		message(sealed(t, key, 2, "replayed")),
		message(sealed(t, key, 3, "a fork")),
		message(sealed(t, key, 3, "new")),
		contentMessage(4, []byte("of no version")),
		message(sealed(t, key, 5, "the last one")),
	} {
		if err := groups[0].Cast(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if h := <-heads; h.Seq != 5 {
		t.Errorf("the second head is %+v", h)
	}
	if signed, _ := headOf(groups[1].Newest()); !slices.Equal(signed, sealed(t, key, 5, "the last one")) {
		t.Error("new members do not get the newest head")
	}
	cancel()
	select {
	case h, ok := <-heads:
		if ok {
			t.Errorf("a head after the end: %+v", h)
		}
	case <-time.After(time.Minute):
		t.Error("the channel is not closed")
	}
}
