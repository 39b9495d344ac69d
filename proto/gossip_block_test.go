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
		{"too long", AppendGossipHeader(nil, 0, 0, MaxGossip+1), "bad block of generation 0 with 262400 bytes"},
		{"unknown generation", AppendGossipHeader(nil, MaxPieces, 0, 2), "bad block"},
		{"short header", short, "want a gossip block"},
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
