package tracker

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// hosts asks for hosts by name, and returns their names, ids and clusters.
func hosts(t *testing.T, c *Client, name string, wanted ...string) (found []string) {
	t.Helper()
	got, err := c.Hosts(t.Context(), &proto.HostsRequest{Swarm: []byte("swarm"), Name: name, Wanted: wanted})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range got {
		if len(h.Addrs) == 0 {
			t.Errorf("%s has no address", h.Name)
		}
		found = append(found, fmt.Sprintf("%s %s %s", h.Name, peer.ID(h.ID), h.Cluster))
	}
	return found
}

// TestHostsByName uses two trackers: hosts are found by the names that they told, as long as they
// are members, and the last that told a name has it.
func TestHostsByName(t *testing.T) {
	t.Parallel()
	clk := new(clock)
	_, first := start(t, Default(nil), clk)
	_, other := start(t, Default(nil), clk)
	ha, a := node(t, ClientConfig{}, first, other)
	hb, b := node(t, ClientConfig{}, first)
	hc, c := node(t, ClientConfig{}, first)
	_, err := a.Hosts(t.Context(), &proto.HostsRequest{Swarm: []byte("swarm"), Name: "n1"})
	var unknown *proto.RemoteError
	if !errors.As(err, &unknown) || unknown.Code != proto.CodeUnknownSwarm {
		t.Errorf("a node that is not a member receives %v", err)
	}
	join := func() {
		for _, err := range []error{
			second(a.Announce(t.Context(), announce(ha, "A", 0))), second(b.Announce(t.Context(), announce(hb, "B", 0))),
			second(c.Announce(t.Context(), announce(hc, "C", 0))),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	join()
	check := func(got []string, want ...string) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	nb, nc := fmt.Sprintf("n2 %s B", hb.ID()), fmt.Sprintf("n2 %s C", hc.ID())
	check(hosts(t, a, "n1", "n1", "n2"))
	check(hosts(t, b, "n2", "n1", "n3", "n1"), fmt.Sprintf("n1 %s A", ha.ID()))
	check(hosts(t, a, "n1", "n2"), nb)
	hosts(t, c, "n2")
	check(hosts(t, a, "n1", "n2"), nc)
	hosts(t, b, "n3")
	check(hosts(t, a, "n1", "n2", "n3"), nc, fmt.Sprintf("n3 %s B", hb.ID()))
	leaving := announce(hc, "C", 0)
	leaving.Leaving = true
	if _, err := c.Announce(t.Context(), leaving); err != nil {
		t.Fatal(err)
	}
	check(hosts(t, a, "n1", "n2"))
	clk.add(80 * time.Second)
	if _, err := a.Announce(t.Context(), announce(ha, "A", 0)); err != nil {
		t.Fatal(err)
	}
	clk.add(80 * time.Second)
	check(hosts(t, a, "n1", "n3"))
}

// TestHostsOfOldTracker asks a tracker that does not know the request.
func TestHostsOfOldTracker(t *testing.T) {
	t.Parallel()
	h := loopHost(t)
	h.SetStreamHandler(proto.TrackerProtocol, func(st network.Stream) {
		_, _ = proto.ReadOpening(st)
		_ = proto.WriteMessage(st, goodbye(errors.New("message type 35 is unknown")))
		st.Close()
	})
	_, c := node(t, ClientConfig{}, peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	if got, err := c.Hosts(t.Context(), &proto.HostsRequest{Swarm: []byte("swarm"), Name: "n"}); err == nil {
		t.Errorf("%v of an old tracker", got)
	}
}
