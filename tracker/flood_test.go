//go:build !race

package tracker

import (
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// cpuTime returns the CPU time of the process.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// announceTimes returns the CPU time of 2 announces to each of two trackers, since other processes take wall time. Of 1000
// slices to each, ten are faster: other processes slow most slices, and the kernel counts a few too short.
func announceTimes(t *testing.T, clients [2]*Client, announces [2]*proto.Announce) (first, second time.Duration) {
	t.Helper()
	var took [2][]time.Duration
	for k := range 2000 {
		i := (k + k/2) % 2 // 0, 1, 1, 0, since some work of a slice counts for the next one
		before := cpuTime(t)
		for range 2 {
			if _, err := clients[i].Announce(t.Context(), announces[i]); err != nil {
				t.Fatal(err)
			}
		}
		took[i] = append(took[i], cpuTime(t)-before)
	}
	for _, all := range took {
		slices.Sort(all)
	}
	return took[0][10], took[1][10]
}

// TestFlood floods a tracker: 100 identities at one address announce themselves under ever new names of clusters, measure links
// from each other, and request topologies. The tracker's memory is bounded, and announces of other nodes in the flooded
// swarm take at most a tenth longer than without the flood.
func TestFlood(t *testing.T) {
	const flooders, names = 100, 20
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var servers [2]*Server // the second is flooded
	var clients [2]*Client
	var announces [2]*proto.Announce
	for i := range servers {
		s, info := start(t, Default(nil), new(clock))
		h, c := node(t, ClientConfig{}, info)
		s.state.table, _ = newSwarm(t, 20, 50)
		servers[i], clients[i], announces[i] = s, c, announce(h, "c0000", 0)
		announces[i].Swarm = []byte("s")
	}
	before := heap()
	s := servers[1]
	host := netip.MustParseAddr("192.0.2.66")
	for k := range names {
		for i := range flooders {
			from := origin{id: proto.PeerID(fmt.Sprint("flooder", i)), host: host}
			for _, swarm := range []string{"s", fmt.Sprint("flood", i)} {
				s.announce(from, &proto.Announce{Swarm: []byte(swarm), Cluster: fmt.Sprintf("flood%d-%d", i, k), Have: 1, Total: 1})
			}
			m := &proto.Measured{Windows: []uint32{1000}}
			for c := range min(i, proto.MaxMeasured) {
				m.Links = append(m.Links, proto.MeasuredLink{
					Cluster: fmt.Sprintf("flood%d-%d", c, k), Bytes: []uint32{1}, Queue: []uint32{0}, Sent: 1,
				})
			}
			s.noteReports(from.id, []byte("s"), nil, m)
			s.topology([]byte("s"))
		}
	}
	cost := heap() - before
	t.Logf("the flood costs %d KiB", cost>>10)
	if cost > 100<<20 {
		t.Errorf("the flood costs the tracker %d MiB", cost>>20)
	}
	without, with := announceTimes(t, clients, announces)
	t.Logf("2 announces take %v, and %v without the flood", with, without)
	if ratio := with.Seconds() / without.Seconds(); ratio > 1.1 {
		t.Errorf("an announce takes %.2f times as long as without the flood", ratio)
	}
	for i := range flooders {
		s.announce(origin{id: proto.PeerID(fmt.Sprint("flooder", i)), host: host}, &proto.Announce{Swarm: []byte("s"), Leaving: true})
	}
	if n := s.state.table.links.Used(); n > 0 {
		t.Errorf("%d links are left of a flood that is over", n)
	}
	runtime.KeepAlive(servers)
}
