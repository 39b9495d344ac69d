package collective_test

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/workers"
)

var figures = flag.Bool("figures", false, "check times, and merge values of 120 MB: for a machine without other work")

// fleet is a group on a grid of 4 clusters with 4 nodes each, 40 ms apart.
type fleet struct {
	t       *testing.T
	grid    *netns.Grid
	size    int
	members []*netns.Process
	inputs  []*json.Encoder
	outputs []*json.Decoder
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	if err := netns.Available(); err != nil {
		t.Skip(err)
	}
	grid, err := workers.NewGrid(1)
	if err != nil {
		t.Fatal(err)
	}
	dir, tracker := t.TempDir(), ""
	t.Cleanup(func() { grid.Close() }) // ends the processes before their directories are removed
	f := &fleet{t: t, grid: grid, size: 16}
	for _, cluster := range []string{"A", "B", "C", "D"} {
		for _, n := range grid.Nodes(cluster) {
			node := workers.Node{Data: filepath.Join(dir, n.Name()), Cluster: cluster, IP: n.IP.String(), Tracker: tracker}
			cmd, err := workers.Command(worker, workerConfig{node, f.size})
			if err != nil {
				t.Fatal(err)
			}
			p, in, out, err := workers.Start(n, cmd)
			if err != nil {
				t.Fatal(err)
			}
			f.members = append(f.members, p)
			f.inputs, f.outputs = append(f.inputs, json.NewEncoder(in)), append(f.outputs, json.NewDecoder(out))
			r := f.read(len(f.outputs) - 1)
			if tracker == "" {
				tracker = r.Addr
			}
		}
	}
	for i := range f.outputs {
		f.read(i)
	}
	return f
}

func (f *fleet) read(i int) (r result) {
	f.t.Helper()
	if err := f.outputs[i].Decode(&r); err != nil {
		f.t.Fatalf("member %d: %v", i, err)
	}
	return r
}

// measured is the time of the slowest member in each repeat, and the bytes of the values that entered and left a cluster at most.
type measured struct {
	took    []time.Duration
	in, out float64 // bytes of a repeat
}

func (m *measured) best() time.Duration { return slices.Min(m.took) }

func (f *fleet) do(o order) (m measured) {
	f.t.Helper()
	before := f.links()
	for _, in := range f.inputs {
		if err := in.Encode(o); err != nil {
			f.t.Fatal(err)
		}
	}
	m.took = make([]time.Duration, o.Repeats)
	for i := range f.outputs {
		r := f.read(i)
		if r.Error != "" {
			f.t.Fatalf("member %d: %s", i, r.Error)
		}
		for k, took := range r.Took {
			m.took[k] = max(m.took[k], took)
		}
	}
	in, out := map[string]float64{}, map[string]float64{}
	for i, l := range f.links() {
		n := float64(l.Bytes-before[i].Bytes) / float64(o.Repeats)
		in[l.To] += n
		out[l.From] += n
	}
	for _, c := range []string{"A", "B", "C", "D"} {
		m.in, m.out = max(m.in, in[c]), max(m.out, out[c])
	}
	f.t.Logf("%+v: %v, at most %.0f bytes into a cluster and %.0f out of one", o, m.took, m.in, m.out)
	return m
}

func (f *fleet) links() []netns.LinkBytes {
	f.t.Helper()
	links, err := f.grid.LinkBytes()
	if err != nil {
		f.t.Fatal(err)
	}
	return links
}

func TestBytesBetweenClusters(t *testing.T) {
	f := startFleet(t)
	f.do(order{Op: "AllReduce", Bytes: 800_000, Repeats: 3})
	if m := f.do(order{Op: "AllReduce", Bytes: 800_000, Repeats: 10}); m.in > 1.65*800_000 {
		t.Errorf("an AllReduce of 800 kB has %.0f bytes enter a cluster, want at most 1.65 copies", m.in)
	}
	f.do(order{Op: "AllReduce", Bytes: 8_000, Repeats: 10})
	if m := f.do(order{Op: "Reduce", Bytes: 8_000_000, Repeats: 2}); m.out > 1.05*8_000_000 {
		t.Errorf("a Reduce of 8 MB has %.0f bytes leave a cluster, want at most 1.05 copies", m.out)
	}
}

func TestLocalReductionOfShuffle(t *testing.T) {
	f := startFleet(t)
	plain := f.do(order{Op: "Shuffle", Bytes: 1_000_000, Repeats: 1})
	merged := f.do(order{Op: "Shuffle", Bytes: 1_000_000, Repeats: 1, Merge: true})
	if share := merged.in / plain.in; share > 0.27 {
		t.Errorf("values that merge 4 to 1 have %.3f of the bytes, want at most 0.27", share)
	}
	share := merged.best().Seconds() / plain.best().Seconds()
	t.Logf("values that merge 4 to 1 take %.3f of the time", share)
	if *figures && share > 0.35 {
		t.Errorf("values that merge 4 to 1 take %.3f of the time, want at most 0.35", share)
	}
}

// TestRateOfLargeAllReduce compares an AllReduce, with -figures one of 120 MB, with the time in which its bytes fit the links.
func TestRateOfLargeAllReduce(t *testing.T) {
	f := startFleet(t)
	size := 8_000_000
	if *figures {
		size = 120_000_000
	}
	m := f.do(order{Op: "AllReduce", Bytes: size, Repeats: 1})
	if copies := m.in / float64(size); copies > 1.65 {
		t.Errorf("an AllReduce has %.2f copies enter a cluster, want at most 1.65", copies)
	}
	took := m.best()
	bound := 2 * float64(size) * 3 / 4 / (12e6 * netns.TCPShare)
	share := bound / took.Seconds()
	t.Logf("%v is %.2f of the bound's rate", took, share)
	if *figures && share < 0.8 {
		t.Errorf("%v is %.2f of the bound's rate, want at least 0.80", took, share)
	}
}

// TestMemberLost kills a member, or stops it, in the middle of operations. All remaining members return ErrMember: in the time of a
// broken stream, or of three heartbeats.
func TestMemberLost(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		most   time.Duration
	}{{syscall.SIGKILL, 2 * time.Second}, {syscall.SIGSTOP, 48 * time.Second}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			f := startFleet(t)
			const victim = 5
			f.do(order{Op: "AllReduce", Bytes: 800_000, Repeats: 1})
			for _, in := range f.inputs {
				if err := in.Encode(order{Op: "AllReduce", Bytes: 800_000, Repeats: 10_000}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second) // they are in some operation
			lost := time.Now()
			if err := f.members[victim].Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			last := time.Duration(0)
			for i := range f.outputs {
				if i == victim {
					continue
				}
				r := f.read(i)
				if !strings.Contains(r.Error, "was lost") {
					t.Errorf("member %d: %q", i, r.Error)
				}
				last = max(last, r.Failed.Sub(lost))
			}
			t.Logf("the last member returned after %v", last)
			if *figures && last > tt.most {
				t.Errorf("the last member returned after %v, want at most %v", last, tt.most)
			}
		})
	}
}
