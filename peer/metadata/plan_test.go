package metadata

import (
	"slices"
	"testing"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// encodedPlan is the document of a plan with these parents.
func encodedPlan(t *testing.T, parents ...uint32) []byte {
	t.Helper()
	p := &proto.Plan{Trees: []proto.PlanTree{{Rate: 1, Parents: parents}}}
	for i := range parents {
		p.Hosts = append(p.Hosts, proto.PlanHost{Name: string(rune('a' + i))})
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFetchPlan asks a malicious and an honest member for a plan, which is kept for the next start.
func TestFetchPlan(t *testing.T) {
	good := encodedPlan(t, 0, 1, 2)
	id := proto.PlanCID(good)
	liar := newMember(t, proto.PlanProtocol, map[cid.Cid][]byte{id: encodedPlan(t, 0, 1, 1)})
	honest := newMember(t, proto.PlanProtocol, map[cid.Cid][]byte{id: good})
	link := &proto.Link{Manifest: proto.ManifestCID(nil), Plan: id, Peers: slices.Concat(p2pAddrs(t, liar), p2pAddrs(t, honest))}
	f := newFetcher(t, link)
	dir := t.TempDir()
	f.Description = NewDescription(dir, link.Manifest, link, nil)
	if err := f.FetchPlan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := f.Description.Plan(); p == nil || len(p.Hosts) != 3 {
		t.Errorf("fetched %+v", p)
	}
	again := NewDescription(dir, link.Manifest, link, nil)
	if err := again.Load(); err != nil || again.Plan() == nil {
		t.Errorf("%v, %+v after a restart", err, again.Plan())
	}
	if b := again.Document(PlanFile); proto.PlanCID(b) != id {
		t.Errorf("the plan is %q", b)
	}
	none := NewDescription(dir, link.Manifest, &proto.Link{}, nil)
	if err := none.Set(PlanFile, good); err == nil || none.Plan() != nil {
		t.Error("a transfer that follows no plan takes one")
	}
}

// TestFetchInvalidPlan ends the search for a plan that no node can follow.
func TestFetchInvalidPlan(t *testing.T) {
	loop := encodedPlan(t, 0, 3, 2)
	id := proto.PlanCID(loop)
	m := newMember(t, proto.PlanProtocol, map[cid.Cid][]byte{id: loop})
	f := newFetcher(t, &proto.Link{Manifest: proto.ManifestCID(nil), Plan: id, Peers: p2pAddrs(t, m)})
	if err := f.FetchPlan(t.Context()); !isFinal(err) || f.Description.Plan() != nil {
		t.Errorf("%v", err)
	}
}
