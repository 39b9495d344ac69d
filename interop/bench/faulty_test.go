package bench

import (
	"slices"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// fault is a way in which a member of cluster C misbehaves: see testdata/faulty.
type fault struct {
	name   string
	member string
	// maxSlower, maxSlowerCoded and maxCopies bound what it may cost a short transfer on a
	// busy machine: the time until the last node is complete, relative to that without
	// faults, of plain and of coded transfers, and the copies that enter a cluster.
	// BenchmarkFaulty measures the cost to a longer transfer.
	maxSlower, maxSlowerCoded, maxCopies float64
}

func faults() []fault {
	return []fault{
		{
			// The run waits for the lossy member, which gets its copy like any other.
			name:           "lossy",
			member:         "C1",
			maxSlower:      2,
			maxSlowerCoded: 2,
			maxCopies:      1.4,
		},
		{
			// The run does not wait for the polluter. Once its cluster has banned it, it
			// downloads its own copy over the WAN. Pieces that it has spoilt come again.
			name:           "polluter",
			member:         polluter,
			maxSlower:      2.5,
			maxSlowerCoded: 2,
			maxCopies:      2.4,
		},
	}
}

const polluter = "C2"

// withFaults is a grid on which no run waits for the polluter, so that all runs compare.
func withFaults(t testing.TB, size int64) *Bench {
	b := fastGrid(t, "4x4", size, Kills{})
	b.Clusters[2].SlowNIC = map[int]netns.Rate{2: 100 * netns.MBps}
	return b
}

// seedOptions are the ways in which content is sent.
func seedOptions() map[string][]string {
	return map[string][]string{"plain": nil, "coded": {"coded=16"}}
}

// runFaulty measures a transfer with a fault, or with none if f is nil. All copies that the
// run waits for must be intact, and only the polluter may be named. named is the
// number of nodes that name it.
func runFaulty(t testing.TB, b *Bench, seed []string, f *fault) (_ *Run, named int) {
	t.Helper()
	m := Mob{Bin: faultyBin(t), Options: seed}
	if f != nil {
		m.Instead = map[string][]string{f.member: {"faulty", "--fault", f.name}}
	}
	o := &observedMob{Mob: m, t: t}
	o.after = func(tr *mobTransfer) {
		i := slices.IndexFunc(tr.Daemons, func(d *Daemon) bool { return d.Name() == polluter })
		liar := tr.Daemons[i].ID()
		for _, d := range tr.all() {
			for _, id := range d.status(t).Polluters {
				if f != nil && f.name == "polluter" && id == liar {
					named++
				} else {
					t.Errorf("%s names %s, which is honest", d.Name(), id)
				}
			}
		}
	}
	r := b.Run(t.Context(), o)
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	if r.Intact != r.Copied || r.Copied < len(b.Receivers())-1 {
		t.Errorf("%d of %d copies are intact", r.Intact, r.Copied)
	}
	return r, named
}

// TestFaultyMember makes a member that rejects half of all requests, and one that sends corrupt
// blocks only: all other nodes must get their copies, in a bounded time.
func TestFaultyMember(t *testing.T) {
	for name, seed := range seedOptions() {
		t.Run(name, func(t *testing.T) {
			b := withFaults(t, 60e6)
			calm, _ := runFaulty(t, b, seed, nil)
			for _, f := range faults() {
				r, named := runFaulty(t, b, seed, &f)
				t.Logf("%s: %.2f s, %.2f s without; named by %d; copies %v", f.name, r.Last, calm.Last, named, r.Copies)
				limit := f.maxSlower
				if seed != nil {
					limit = f.maxSlowerCoded
				}
				if r.Last > limit*calm.Last {
					t.Errorf("%s: %.2f s, %.2f s without; all: %v", f.name, r.Last, calm.Last, r.Finished)
				}
				for _, c := range r.Copies {
					if c.Copies > f.maxCopies {
						t.Errorf("%s: %v", f.name, c)
					}
				}
				if f.name == "polluter" && seed != nil && named == 0 && !t.Failed() {
					t.Error("no node names the polluter")
				}
			}
		})
	}
}

// BenchmarkFaulty reports how much later the last node is complete, in the median of three
// runs with a fault and three without, in turn.
func BenchmarkFaulty(b *testing.B) {
	for name, seed := range seedOptions() {
		for _, f := range faults() {
			b.Run(name+"/"+f.name, func(b *testing.B) {
				bn := withFaults(b, 120e6)
				for b.Loop() {
					report := bn.NewReport()
					named := 0
					for range 3 {
						r, _ := runFaulty(b, bn, seed, nil)
						report.Add("calm", r)
						r, n := runFaulty(b, bn, seed, &f)
						report.Add(f.name, r)
						named += n
					}
					calm, faulty := report.Results[0].Median(), report.Results[1].Median()
					b.ReportMetric(100*(faulty.Last/calm.Last-1), "%-slower")
					b.ReportMetric(calm.Last, "s-calm")
					b.ReportMetric(faulty.Last, "s-faulty")
					b.ReportMetric(float64(named)/3, "named-by")
					for _, c := range faulty.Copies[1:] {
						b.ReportMetric(c.Copies, "copies-"+c.Cluster)
					}
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}
