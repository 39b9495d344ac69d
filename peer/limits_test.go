package peer_test

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestLimits fetches a file with each of the limits, which then bounds the time. The
// limits of the node and of the transfer both apply, and a limit that is removed while the transfer
// waits for it does not delay it any more.
func TestLimits(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	low, high := limit.Rate(4<<20), limit.Rate(1<<30)
	for _, c := range []struct {
		name, from  string
		source, get limit.Limits // of the nodes
		own         limit.Limits // of the transfer that fetches
		limited     bool
	}{
		{"none", "B", limit.Limits{}, limit.Limits{WANUp: 1000, LANUp: 1000}, limit.Limits{}, false},
		{"wan-down", "B", limit.Limits{}, limit.Limits{WANDown: low}, limit.Limits{}, true},
		{"wan-down of a transfer", "B", limit.Limits{}, limit.Limits{WANDown: high}, limit.Limits{WANDown: low}, true},
		{"wan-up", "B", limit.Limits{WANUp: low, LANUp: 1000}, limit.Limits{}, limit.Limits{}, true},
		{"lan-up", "A", limit.Limits{LANUp: low, WANUp: 1000}, limit.Limits{WANDown: 1000}, limit.Limits{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			gate := peertest.NewGate(0)
			source := peertest.Start(t, c.from, peertest.Configure(func(cfg *peer.Config) { cfg.Limits = c.source }), peertest.WithGate(gate))
			node := peertest.Start(t, "A", peertest.Configure(func(cfg *peer.Config) { cfg.Limits = c.get }))
			_, link, content := peertest.SeedRandom(t, source, size, peer.SeedOptions{})
			get := peertest.Get(t, node, link, t.TempDir()+"/out")
			get.SetLimits(c.own)
			began := time.Now()
			gate.Open()
			peertest.Wait(t, get)
			took := time.Since(began)
			bound := time.Duration(float64(len(content)) / float64(low) * float64(time.Second))
			if c.limited && took < bound*9/10 {
				t.Errorf("took %v, which is less than %v", took, bound)
			}
			peertest.Eventually(t, "each byte once", func() bool { // a duplicate block may be in flight
				st := get.Status()
				return st.Traffic.WANIn+st.Traffic.LANIn-st.Duplicate == size
			})
		})
	}
}

// TestLimitLifted removes the limit of a slow transfer, which continues at full speed.
func TestLimitLifted(t *testing.T) {
	t.Parallel()
	source := peertest.Start(t, "B")
	node := peertest.Start(t, "A", peertest.Configure(func(cfg *peer.Config) { cfg.Limits = limit.Limits{WANDown: 1000} }))
	_, link, content := peertest.SeedRandom(t, source, 8<<20, peer.SeedOptions{})
	get := peertest.Get(t, node, link, t.TempDir()+"/out")
	peertest.Eventually(t, "the first block", func() bool { return get.Status().Traffic.WANIn > 0 })
	if have := get.Status().Have; have == int64(len(content)) {
		t.Fatal("it was not limited")
	}
	node.SetLimits(limit.Limits{})
	peertest.Wait(t, get)
}

// TestClusterLimit gives two of three members of a cluster a limit. All three share the lower one.
func TestClusterLimit(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	low, gate := limit.Rate(2<<20), peertest.NewGate(0)
	source := peertest.Start(t, "B", peertest.WithGate(gate))
	_, link, content := peertest.SeedRandom(t, source, size, peer.SeedOptions{})
	var nodes []*peer.Node
	for _, r := range []limit.Rate{low, 2 * low, 0} {
		n := peertest.Start(t, "A", peertest.Configure(func(cfg *peer.Config) {
			cfg.Limits = limit.Limits{ClusterWANDown: r, WANDown: 1000}
			if r > 0 {
				cfg.Limits.WANDown = 0
			}
		}))
		nodes = append(nodes, n)
		link.Peers = append(link.Peers, n.Addrs()...)
	}
	gets := peertest.GetAll(t, nodes, link)
	peertest.Eventually(t, "the two know each other's limit", func() bool {
		a, b := nodes[0].Share(), nodes[1].Share()
		return a.Members == 2 && a.LowestBy == "" && a.Limit == low &&
			b.Members == 2 && b.LowestBy == nodes[0].Host().ID().String() && b.Limit == low
	})
	began := time.Now()
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	bound := time.Duration(float64(size) / float64(low) * float64(time.Second))
	if took := time.Since(began); took < bound*9/10 {
		t.Errorf("took %v, which is less than %v", took, bound)
	}
	if nodes[2].Share() != nil {
		t.Error("a node without the limit has a share in it")
	}
	if err := gets[1].Stop(); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the one that is left has all of it", func() bool {
		st := nodes[0].Share()
		return st.Members == 1 && st.Rate == low
	})
}

// TestSlowSharedLimit shares a few pieces per second among the members of a cluster, from two sources. No member
// is considered dead: each byte enters the cluster about once.
func TestSlowSharedLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes eight seconds")
	}
	t.Parallel()
	const size, rate = 4 << 20, 512 << 10
	gate := peertest.NewGate(0)
	gate.Open()
	source := peertest.Start(t, "B", peertest.WithGate(gate))
	_, link, content := peertest.SeedRandom(t, source, size, peer.SeedOptions{})
	second := peertest.Start(t, "C", peertest.WithGate(gate))
	get := peertest.Get(t, second, link, t.TempDir()+"/out")
	peertest.Wait(t, get)
	gate.Close()
	link.Peers = append(link.Peers, second.Addrs()...)
	var nodes []*peer.Node
	for range 6 {
		n := peertest.Start(t, "A", peertest.Configure(func(cfg *peer.Config) {
			cfg.Limits = limit.Limits{ClusterWANDown: rate}
		}))
		nodes = append(nodes, n)
		link.Peers = append(link.Peers, n.Addrs()...)
	}
	gets := peertest.GetAll(t, nodes, link)
	for _, n := range nodes {
		// All fetch what each fetches before it has found the other members.
		peertest.Eventually(t, "all members", func() bool { return n.Share().Members == len(nodes) })
	}
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	var wan, duplicate int64
	for _, g := range gets {
		st := g.Status()
		wan, duplicate = wan+st.Traffic.WANIn, duplicate+st.Duplicate
	}
	if wan > size*3/2 {
		t.Errorf("%d bytes received over the WAN for %d, %d of them twice", wan, size, duplicate)
	}
}
