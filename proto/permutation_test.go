package proto

import "testing"

func TestPermutationCheck(t *testing.T) {
	for name, m := range map[string]*Permutation{
		"duplicate":          {Members: []PeerID{"a", "a"}, Since: []uint32{0, 0}},
		"out of order":       {Members: []PeerID{"b", "a"}, Since: []uint32{0, 0}},
		"empty id":           {Members: []PeerID{""}, Since: []uint32{0}},
		"few generations":    {Members: []PeerID{"a", "b"}, Since: []uint32{0}},
		"no such generation": {Members: []PeerID{"a"}, Since: []uint32{MaxPieces}},
		"too many members":   {Members: make([]PeerID, MaxMembers+1), Since: make([]uint32, MaxMembers+1)},
		"long id":            {Members: []PeerID{PeerID(make([]byte, MaxPeerID+1))}, Since: []uint32{0}},
	} {
		if err := m.check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&Permutation{Members: []PeerID{"a", "b"}, Since: []uint32{3, 0}}).check(); err != nil {
		t.Error(err)
	}
}
