package tracker

import (
	"context"
	"errors"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestLocal checks that the node on the tracker's own host is a member like any other.
func TestLocal(t *testing.T) {
	t.Parallel()
	s, info := start(t, Default(nil), new(clock))
	_, remote := node(t, ClientConfig{}, info)
	h, local := s.host, s.Local()
	ctx := context.Background()
	a := &proto.Announce{Swarm: proto.ManifestCID([]byte("x")).Bytes(), Cluster: "A", Addrs: [][]byte{h.Addrs()[0].Bytes()}}
	got, err := local.Announce(ctx, a)
	if err != nil || len(got.Members) != 0 {
		t.Fatalf("the first announce: %v, %v", got, err)
	}
	b := *a
	b.Addrs = nil
	got, err = remote.Announce(ctx, &b)
	if err != nil || len(got.Members) != 1 || got.Members[0].ID != proto.PeerID(h.ID()) || len(got.Members[0].Addrs) != 1 {
		t.Errorf("the other node receives %+v, %v", got, err)
	}
	if got, err = local.Announce(ctx, a); err != nil || len(got.Members) != 1 {
		t.Errorf("the node receives %+v, %v", got, err)
	}
	a.Leaving = true
	if _, err = local.Announce(ctx, a); err != nil {
		t.Error(err)
	}
	if got, err = remote.Announce(ctx, &b); err != nil || len(got.Members) != 0 {
		t.Errorf("after it has left, the other node receives %+v, %v", got, err)
	}
	if err := local.Close(); err != nil {
		t.Error(err)
	}
	cfg := Default(nil)
	cfg.MaxSwarms = 1
	full, _ := start(t, cfg, new(clock))
	a.Leaving = false
	if _, err = full.Local().Announce(ctx, a); err != nil {
		t.Error(err)
	}
	a.Swarm = proto.ManifestCID([]byte("y")).Bytes()
	var rejected *proto.RemoteError
	if _, err = full.Local().Announce(ctx, a); !errors.As(err, &rejected) || rejected.Code != proto.CodeBusy {
		t.Errorf("a swarm too many: %v", err)
	}
}
