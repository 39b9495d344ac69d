package metadata

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// fakeFinder is a tracker. If named is set, it names one member per swarm: the key.
type fakeFinder struct {
	Finder
	named     bool
	err       error
	failsFor  []byte   // the key for which Announce fails with err, nil for all
	announced [][]byte // keys
}

func (f *fakeFinder) Announce(_ context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	f.announced = append(f.announced, a.Swarm)
	if f.err != nil && (f.failsFor == nil || bytes.Equal(f.failsFor, a.Swarm)) {
		return nil, f.err
	}
	h := &proto.AnnounceReply{Interval: uint32(len(a.Swarm))}
	if f.named {
		h.Members = []proto.Member{{ID: proto.PeerID(a.Swarm)}}
	}
	return h, nil
}

func TestAnnounceUnderEachKey(t *testing.T) {
	link := &proto.Link{Manifest: proto.ManifestCID(nil), InfoHash: proto.InfoHash{1}}
	manifest, torrent := link.Manifest.Bytes(), link.InfoHash.CID().Bytes()
	no := errors.New("no")
	for name, tt := range map[string]struct {
		finder  *fakeFinder
		members []proto.PeerID
		fails   bool
	}{
		"both":       {&fakeFinder{named: true}, []proto.PeerID{proto.PeerID(manifest), proto.PeerID(torrent)}, false},
		"one fails":  {&fakeFinder{named: true, err: no, failsFor: manifest}, []proto.PeerID{proto.PeerID(torrent)}, false},
		"both fail":  {&fakeFinder{err: no}, nil, true},
		"no members": {&fakeFinder{}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := Announce(t.Context(), tt.finder, link.Keys(), proto.Announce{})
			if tt.fails != (err != nil) || len(tt.finder.announced) != 2 {
				t.Fatalf("%v after %d announces", err, len(tt.finder.announced))
			}
			if err != nil {
				return
			}
			var members []proto.PeerID
			for _, m := range h.Members {
				members = append(members, m.ID)
			}
			if !slices.Equal(members, tt.members) || int(h.Interval) != len(torrent) {
				t.Errorf("members %q, interval %d", members, h.Interval)
			}
		})
	}
}
