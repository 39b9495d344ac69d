package membership

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// revoke makes a list with a copy of the secret that has only old, nil for nothing.
func revoke(t *testing.T, s *Secret, old *List, after time.Duration, ids ...peer.ID) *List {
	t.Helper()
	l, err := s.Revoke(old, epoch.Add(after), ids...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestListsOfTwoCopies checks that the members of all lists stay revoked, in whatever order the lists come,
// and across restarts.
func TestListsOfTwoCopies(t *testing.T) {
	secret, self, eve, mallory, trudy := newSecret(t), newPeer(t), newPeer(t), newPeer(t), newPeer(t)
	old := revoke(t, secret, nil, 0, eve)
	newer := revoke(t, secret, nil, time.Hour, mallory)
	empty := revoke(t, secret, nil, 2*time.Hour)
	longer := revoke(t, secret, newer, 3*time.Hour, trudy)
	all := revoke(t, secret, nil, 4*time.Hour, eve, mallory, trudy)
	for _, tt := range []struct {
		name  string
		lists []*List
		isNew []bool
		want  []peer.ID
		kept  int
	}{
		{"a newer list without a member", []*List{old, newer}, []bool{true, true}, []peer.ID{eve, mallory}, 2},
		{"an older list with other members", []*List{newer, old}, []bool{true, true}, []peer.ID{eve, mallory}, 2},
		{"a newer empty list", []*List{old, empty}, []bool{true, true}, []peer.ID{eve}, 2},
		{"an older list after an empty one", []*List{empty, old}, []bool{true, true}, []peer.ID{eve}, 2},
		{"known ones", []*List{old, newer, old, newer}, []bool{true, true, false, false}, []peer.ID{eve, mallory}, 2},
		{"an extended list", []*List{old, newer, longer}, []bool{true, true, true}, []peer.ID{eve, mallory, trudy}, 2},
		{"an older list of known members", []*List{longer, newer}, []bool{true, false}, []peer.ID{mallory, trudy}, 1},
		{"one with all", []*List{old, newer, longer, all}, []bool{true, true, true, true}, []peer.ID{eve, mallory, trudy}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{
				Secret: secret, Self: self, Cluster: "geneva", Now: func() time.Time { return epoch },
				ListFile: filepath.Join(t.TempDir(), "revoked"), WriteFile: os.WriteFile,
			}
			m, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			var serial uint64
			for i, l := range tt.lists {
				serial = max(serial, l.Serial)
				if got, err := m.AdoptEnvelope(l.Envelope()); err != nil || got != tt.isNew[i] {
					t.Errorf("list %d: new %v, %v", i, got, err)
				}
			}
			slices.Sort(tt.want)
			for range 2 {
				ls := m.Lists()
				if got := ls.Peers(); !slices.Equal(got, tt.want) || len(ls) != tt.kept || ls.Serial() != serial {
					t.Errorf("%d lists with %v, serial %d, want %d with %v, serial %d", len(ls), got, ls.Serial(), tt.kept, tt.want, serial)
				}
				for _, id := range tt.want {
					_, err := m.Verify(sign(t, secret, id, "geneva", DefaultRoles).Certificate.Envelope(), id)
					checkError(t, err, "was revoked")
				}
				if m, err = New(cfg); err != nil {
					t.Fatal(err)
				}
			}
			// An earlier version reads the newest list of the file, and takes it from peers.
			text, err := os.ReadFile(cfg.ListFile)
			if err != nil {
				t.Fatal(err)
			}
			b, err := blocks(text, listBlock)
			if err != nil {
				t.Fatal(err)
			}
			if l, err := openList(b[0]); err != nil || l.Serial != serial {
				t.Errorf("the first list of the file: %v, %v", l, err)
			}
		})
	}
}

// TestTooManyLists checks that the number of lists of a member is bounded, that all members stay revoked, and that one list of
// all replaces them, which is made from a file with more lists.
func TestTooManyLists(t *testing.T) {
	secret, self := newSecret(t), newPeer(t)
	m, err := New(Config{Secret: secret, Self: self, Cluster: "geneva", Now: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	var ids []peer.ID
	var all Lists
	for i := range maxLists + 1 {
		ids = append(ids, newPeer(t))
		all = append(all, revoke(t, secret, nil, time.Duration(i)*time.Second, ids[i]))
		switch isNew, err := m.Adopt(all[i]); {
		case i < maxLists && (err != nil || !isNew):
			t.Fatalf("list %d: new %v, %v", i, isNew, err)
		case i == maxLists && !errors.Is(err, ErrTooManyLists):
			t.Errorf("one too many: %v", err)
		}
	}
	if got := m.Lists(); len(got) != maxLists || len(got.Peers()) != maxLists {
		t.Errorf("%d lists with %d members", len(got), len(got.Peers()))
	}
	parsed, err := ParseLists(all.PEM())
	if err != nil {
		t.Fatal(err)
	}
	if isNew, err := m.Adopt(revoke(t, secret, parsed[0], 2*time.Hour, parsed.Peers()...)); err != nil || !isNew {
		t.Fatalf("one with all: new %v, %v", isNew, err)
	}
	if got := m.Lists(); len(got) != 1 || len(got.Peers()) != len(ids) {
		t.Errorf("%d lists with %d members", len(got), len(got.Peers()))
	}
}
