package proto

import (
	"bytes"
	"testing"
)

func TestReadGossipHeader(t *testing.T) {
	short := AppendGossipHeader(nil, 0, 0, 0)
	short[3]--
	for _, tt := range []struct {
		name string
		head []byte
		want string
	}{
		{"smallest", AppendGossipHeader(nil, 0, 0, 2), ""},
		{"largest", AppendGossipHeader(nil, MaxPieces-1, 1<<32-1, MaxGossip), ""},
		{"no payload", AppendGossipHeader(nil, 0, 0, 1), "bad block of generation 0 with 1 bytes"},
		{"too long", AppendGossipHeader(nil, 0, 0, MaxGossip+1), "with 262409 bytes, want a block"},
		{"no such generation", AppendGossipHeader(nil, MaxPieces, 0, 2), "bad block"},
		{"short header", short, "want a block"},
		{"a plain block", AppendBlockHeader(nil, 1, 0, 1000), "bulk frame of type 15"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var head [GossipHeader]byte
			generation, round, n, err := ReadGossipHeader(bytes.NewReader(append(tt.head, 0, 0, 0, 0)), &head)
			checkError(t, err, tt.want)
			if err == nil && !bytes.Equal(AppendGossipHeader(nil, generation, round, n), tt.head) {
				t.Errorf("got %d %d %d", generation, round, n)
			}
		})
	}
}

// A permutation is of ids in their order, each once.
func TestPermutationCheck(t *testing.T) {
	for name, m := range map[string]*Permutation{
		"twice":         {Members: []PeerID{"a", "a"}, Since: []uint32{0, 0}},
		"out of order":  {Members: []PeerID{"b", "a"}, Since: []uint32{0, 0}},
		"nobody":        {Members: []PeerID{""}, Since: []uint32{0}},
		"a missing one": {Members: []PeerID{"a", "b"}, Since: []uint32{0}},
		"no generation": {Members: []PeerID{"a"}, Since: []uint32{MaxPieces}},
		"too many":      {Members: make([]PeerID, MaxMembers+1), Since: make([]uint32, MaxMembers+1)},
		"a long id":     {Members: []PeerID{PeerID(make([]byte, MaxPeerID+1))}, Since: []uint32{0}},
	} {
		if err := m.check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&Permutation{Members: []PeerID{"a", "b"}, Since: []uint32{3, 0}}).check(); err != nil {
		t.Error(err)
	}
}

func TestStrategyNames(t *testing.T) {
	for s := Mobs; s < strategies; s++ {
		if got, err := ParseStrategy(s.String()); err != nil || got != s || s.Gossip() != (s != Mobs) {
			t.Errorf("%d is %q, which is %d, %v", s, s, got, err)
		}
	}
	_, err := ParseStrategy("chain")
	checkError(t, err, "want one of permutation, overlap1, overlap2, rb")
}
