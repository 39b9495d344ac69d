package peer_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/swarm"
)

// goesDown names a counter that is less than before, "" if none is.
func goesDown(before, now swarm.Totals) string {
	var less func(name string, a, b reflect.Value) string
	less = func(name string, a, b reflect.Value) string {
		if a.Kind() == reflect.Int64 {
			if b.Int() < a.Int() {
				return name
			}
			return ""
		}
		if a.Kind() == reflect.Array {
			for i := range a.Len() {
				if what := less(name, a.Index(i), b.Index(i)); what != "" {
					return what
				}
			}
			return ""
		}
		for i := range a.NumField() {
			if what := less(a.Type().Field(i).Name, a.Field(i), b.Field(i)); what != "" {
				return what
			}
		}
		return ""
	}
	return less("", reflect.ValueOf(before), reflect.ValueOf(now))
}

// TestTotalsNeverGoDown reads the totals of a node while transfers are fetched, stopped, resumed and removed.
func TestTotalsNeverGoDown(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]peer.SeedOptions{
		"plain": {PieceLength: 64 << 10},
		"coded": {PieceLength: 64 << 10, Coded: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const size = 4 << 20
			a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
			_, link, content := peertest.SeedRandom(t, a, size, opt)
			stop, fault := make(chan struct{}), make(chan string, 1)
			go func() {
				defer close(fault)
				for last := b.Stats().Totals; ; {
					now := b.Stats().Totals
					if what := goesDown(last, now); what != "" {
						fault <- what
						return
					}
					last = now
					select {
					case <-stop:
						return
					default:
					}
				}
			}()
			for range 3 {
				get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
				peertest.WaitEqual(t, []*peer.Transfer{get}, content)
				if st := b.Stats(); st.Transfers[peer.Whole] != 1 || st.Clusters["A"].Peers != 1 {
					t.Errorf("%+v", st)
				}
				if err := get.Stop(); err != nil {
					t.Fatal(err)
				}
				if st := b.Stats(); st.Transfers[peer.Stopped] != 1 || len(st.Clusters) > 0 {
					t.Errorf("stopped: %+v", st)
				}
				if _, err := b.Remove(get, true); err != nil {
					t.Fatal(err)
				}
			}
			close(stop)
			if what := <-fault; what != "" {
				t.Errorf("%s went down", what)
			}
			st := b.Stats()
			sum := st.Totals
			if len(st.Transfers) > 0 || sum.Traffic.WANIn < 3*size || sum.VerifiedBytes != 3*size || sum.Verified != 3*size>>16 ||
				sum.Joined < 3 || sum.Joined != sum.Left || sum.Bad != 0 {
				t.Errorf("in the end %+v", st)
			}
		})
	}
}

// TestDamageIsCounted damages a served content.
func TestDamageIsCounted(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "A")
	path, _ := peertest.RandomFile(t, 1<<20)
	seed, _ := peertest.Seed(t, a, path, peer.SeedOptions{PieceLength: 64 << 10})
	if err := peertest.Flip(path, 0, 512<<10); err != nil {
		t.Fatal(err)
	}
	if _, err := seed.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if st := a.Stats(); st.Damaged != 2 || st.Totals.Damaged != 2 || st.Unreadable != 0 {
		t.Errorf("%+v", st)
	}
}
