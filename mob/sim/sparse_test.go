package sim

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestSparse makes large clusters fetch content that is not worth a session with each member. One cluster has a
// fraction of the sessions, each of which begins with an introduction, and takes no longer. Where there are
// several, each still fetches one copy.
func TestSparse(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sizes  []int
		length int64
		fewer  float64 // sessions
	}{
		{"one piece", []int{100}, 1000, 0.2},
		{"many pieces", []int{100}, 4e6, 0.4},
		{"four clusters", []int{1, 30, 30, 30}, 4e6, 1.05},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := func(session int) *Report {
				return run(t, Config{
					Clusters: grid(tt.sizes...), Length: tt.length, PieceLength: 256 << 10, NIC: 125e6, RTT: 10 * time.Millisecond,
					Session: session, Seed: 1,
				})
			}
			mesh, sparse := run(0), run(256<<10)
			t.Logf("mesh\n%v\nsparse\n%v", mesh, sparse)
			if sparse.Time > mesh.Time*3/2 {
				t.Errorf("it takes %v, and %v with a session for each pair", sparse.Time, mesh.Time)
			}
			all, few := mesh.Messages[proto.TypeOf(&proto.Members{})].Messages, sparse.Messages[proto.TypeOf(&proto.Members{})].Messages
			if float64(few) > tt.fewer*float64(all) {
				t.Errorf("%d introductions, and %d with a session for each pair", few, all)
			}
			oneCopyAtMost(t, sparse)
		})
	}
}

// oneCopyAtMost requires little more than one copy to enter each cluster: of content that is over at once, two members
// may fetch a piece before they receive each other's claims.
func oneCopyAtMost(t *testing.T, r *Report) {
	t.Helper()
	for _, k := range r.Copies {
		if k.Copies > 1.1 {
			t.Errorf("%.3f copies into %s", k.Copies, k.Cluster)
		}
	}
}
