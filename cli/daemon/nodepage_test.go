package daemon

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
)

// busyNode returns the statuses of a node with many transfers and peers.
func busyNode(transfers, peers int) []peer.Status {
	var list []peer.Status
	for i := range transfers {
		st := peer.Status{
			ID: fmt.Sprintf("bafyreig7ty642br3bu5m7wxeh6lh3uqxrktm5q3njko5qw5v2e4k%04d", i), Short: fmt.Sprintf("c-abcdef%04d", i), Name: fmt.Sprintf("content-%04d.tar", i),
			Root: fmt.Sprintf("/srv/data/content-%04d.tar", i), Link: "magnet:?secret", Phase: peer.Fetching,
			Length: 1e12, Pieces: 1000, Elapsed: time.Hour,
			SwarmStatus: peer.SwarmStatus{
				Have: 5e11, PiecesHave: 500, Connected: peers,
				Traffic: peer.Traffic{WANIn: 123456789012, LANIn: 123456789012}, Rate: peer.Traffic{WANIn: 123456789},
			},
		}
		for k := range peers {
			st.Peers = append(st.Peers, peer.PeerStatus{
				ID: fmt.Sprintf("12D3KooWQkGn2F2AT7m3b8cZuS5i1Nw3kqqHTVvUuGc7kcW%04d", k), Cluster: fmt.Sprintf("cluster-%d", k%4),
				Local: k%4 == 0, Have: 499, Rate: 12345678, RTT: 12345 * time.Microsecond, Stalled: k == 5,
			})
		}
		list = append(list, st)
	}
	return list
}

// An event of a busy node is small: it has the peers of one transfer at most. It has no links.
func TestNodePageIsSmall(t *testing.T) {
	t.Parallel()
	list := busyNode(64, 64)
	for detail, limit := range map[string]int{"": 64 << 10, list[7].ID: 80 << 10} {
		p := summarize(list, detail)
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("64 transfers with 64 peers, detail %q: %d bytes", detail, len(b))
		if len(b) > limit || len(p.Transfers) != 64 {
			t.Errorf("%d transfers in %d bytes, want %d at most", len(p.Transfers), len(b), limit)
		}
		if strings.Contains(string(b), "magnet") {
			t.Error("the page has links")
		}
		if want := 64; detail != "" && len(p.Peers) != want || detail == "" && len(p.Peers) > 0 {
			t.Errorf("detail %q: %d peers", detail, len(p.Peers))
		}
	}
}

// The page counts a peer once in its cluster, and shows running transfers first.
func TestNodePage(t *testing.T) {
	t.Parallel()
	list := busyNode(3, 8)
	list[0].Phase, list[1].Phase = peer.Stopped, peer.Whole
	p := summarize(list, "")
	var phases []peer.Phase
	for _, tr := range p.Transfers {
		phases = append(phases, tr.Phase)
	}
	if got := fmt.Sprint(phases); got != "[fetching whole stopped]" {
		t.Errorf("phases %s", got)
	}
	want := "[{cluster-0 true 2 0 74074068} {cluster-1 false 2 1 74074068} {cluster-2 false 2 0 74074068} {cluster-3 false 2 0 74074068}]"
	if got := fmt.Sprint(p.Clusters); got != want {
		t.Errorf("clusters %s, want %s", got, want)
	}
	if p.Rate.WANIn != 3*123456789 {
		t.Errorf("rate %+v", p.Rate)
	}
	if p := summarize(busyNode(300, 0), ""); len(p.Transfers) != maxPageTransfers || p.More != 44 {
		t.Errorf("of 300 transfers %d are shown and %d more", len(p.Transfers), p.More)
	}
}

func BenchmarkNodePage(b *testing.B) {
	list := busyNode(64, 64)
	for b.Loop() {
		if _, err := json.Marshal(summarize(list, list[7].ID)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNodePageHidesLinks fills every field of a status: the page must not show those that are enough to fetch
// the content, or that have addresses or paths of files.
func TestNodePageHidesLinks(t *testing.T) {
	t.Parallel()
	st := busyNode(1, 1)[0]
	st.Link, st.InfoHash, st.DamagedFiles, st.Polluters = "secret", "secret", []string{"secret"}, []string{"secret"}
	st.Plan = &peer.PlanStatus{ID: "secret", Host: "secret"}
	st.Different, st.MoreDifferent, st.Away = []store.Difference{{Path: "secret"}}, 2, true
	p := summarize([]peer.Status{st}, st.ID)
	b, err := json.Marshal(p)
	if err != nil || strings.Contains(string(b), "secret") {
		t.Errorf("%s, %v", b, err)
	}
	if got := p.Transfers[0]; !got.Away || got.MoreDifferent != 3 {
		t.Errorf("away %t, %d entries differ; want true, 3", got.Away, got.MoreDifferent)
	}
}
