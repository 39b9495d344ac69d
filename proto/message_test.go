package proto

import (
	"bytes"
	"reflect"
	"testing"
)

func samples() []Message {
	addr := [][]byte{{4, 127, 0, 0, 1, 6, 1, 2}}
	cid := []byte{1, 2, 3}
	return []Message{
		&Hello{Swarm: cid, Cluster: "B", Addrs: addr, Seed: true},
		&Have{Have: []Range{{First: 1, Count: 2}}, Claim: []Range{{First: 7, Count: 1}}, Drop: []Range{}, Left: 5},
		&Want{Pieces: []Range{{First: 0, Count: 9}}},
		&Request{Span: Span{Piece: 3, Begin: 65536, Length: 65536}},
		&Cancel{Span: Span{Piece: 3, Begin: 65536, Length: 65536}},
		&Reject{Span: Span{Piece: 3, Begin: 65536, Length: 65536}},
		&Bad{Piece: 3},
		&Steal{Rate: 1e6},
		&Give{Pieces: []Range{{First: 4, Count: 4}}},
		&Ping{Nonce: 1},
		&Pong{Nonce: 1},
		&Members{Members: []Member{{ID: "\x12\xff", Cluster: "A", Addrs: addr}}},
		&Goodbye{Code: CodeLeaving, Text: "bye"},
		&BulkHello{Swarm: cid},
		&Block{Piece: 1, Begin: 2, Data: []byte("data")},
		&ManifestRequest{Swarm: cid},
		&ManifestReply{Length: 100},
		&Announce{Swarm: cid, Cluster: "C", Addrs: addr, Have: 1, Total: 2, Leaving: true},
		&Handout{Interval: 30, Members: []Member{{ID: "\x12\x20", Cluster: "A", Addrs: addr}}},
		&FleetRequest{Swarm: cid},
		&Fleet{Clusters: []FleetCluster{{Name: "A", Nodes: 4, Whole: 1, Missing: 99}}},
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	for _, m := range samples() {
		frame, err := AppendFrame(nil, m)
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		got, err := ReadMessage(bytes.NewReader(frame))
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%T: got %+v, want %+v", m, got, m)
		}
		t.Logf("%T %x", m, frame)
	}
}
