package swarm_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// codedAs returns the link with another k, or with 0 for plain pieces.
func codedAs(link *proto.Link, k int) *proto.Link {
	other := *link
	other.Coded, other.Strategy = k, proto.ReceiverDriven
	return &other
}

// waitExcluded waits for a get to fail with a text.
func waitExcluded(t *testing.T, get *peer.Transfer, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), peertest.WaitTimeout)
	defer cancel()
	err := get.Wait(ctx)
	var no *proto.RemoteError
	if !errors.As(err, &no) || no.Code != proto.CodeExcluded || no.Text != text {
		t.Errorf("the get ended with %v, want %q", err, text)
	}
}

// mismatches are pairs of codings, with the text that a node with the first one sends to a node with the
// second.
var mismatches = map[string]struct {
	seed, get int
	text      string
}{
	"coded seed, plain get": {16, 0, "this content is coded with k=16 here, not sent as plain pieces: use the link that has x.rlnc=16"},
	"plain seed, coded get": {0, 16, "this content is sent as plain pieces here, not coded with k=16: use a link without x.rlnc"},
	"k of 16, k of 8":       {16, 8, "this content is coded with k=16 here, not coded with k=8: use the link that has x.rlnc=16"},
}

// TestRejectsOtherCoding dials the link's peer, which uses another coding: the transfer fails with the
// peer's reason, and the peer logs it.
func TestRejectsOtherCoding(t *testing.T) {
	t.Parallel()
	for name, tt := range mismatches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log peertest.Recorder
			a := peertest.Start(t, "A", peertest.Log(log.Logger()))
			b := peertest.Start(t, "B")
			_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{Coded: tt.seed, PieceLength: proto.MinCodedBlock})
			get := peertest.Get(t, b, codedAs(link, tt.get), filepath.Join(t.TempDir(), "out"))
			waitExcluded(t, get, tt.text)
			if log.Count(tt.text) != 1 {
				t.Errorf("the seed logged %q, want %q once", &log, tt.text)
			}
		})
	}
}

// TestLogsOtherCodingOnce lets nodes with different codings dial each other repeatedly, through a tracker:
// both log the reason once, and neither fails.
func TestLogsOtherCodingOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range mismatches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracker := peertest.NewTracker()
			often := peertest.Configure(func(c *peer.Config) {
				c.Tuning = mob.DefaultTuning()
				c.Tuning.Retry = 10 * time.Millisecond
			})
			var logA, logB peertest.Recorder
			a := tracker.Start(t, "A", peertest.Log(logA.Logger()), often)
			b := tracker.Start(t, "B", peertest.Log(logB.Logger()), often)
			_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{Coded: tt.seed, PieceLength: proto.MinCodedBlock})
			link.Peers = nil
			get := peertest.Get(t, b, codedAs(link, tt.get), filepath.Join(t.TempDir(), "out"))
			const text = "peer excluded"
			peertest.Eventually(t, "a rejection on both sides", func() bool { return logA.Count(text) > 0 && logB.Count(text) > 0 })
			time.Sleep(500 * time.Millisecond)
			if n, m := logA.Count(text), logB.Count(text); n != 1 || m != 1 {
				t.Errorf("%d and %d rejections are logged, want one each", n, m)
			}
			const reason = "this content is " // in the words of the one that was dialed
			if n, m := logA.Count(reason), logB.Count(reason); n != 1 || m != 1 {
				t.Errorf("%d and %d reasons are logged, want one each", n, m)
			}
			if st := get.Status(); st.Phase != peer.Fetching || st.Connected != 0 {
				t.Errorf("status %+v", st)
			}
		})
	}
}
