package proto

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"testing"
)

// samples returns a message of each type with a CBOR body, in the order of the types.
func samples() []Message {
	addr := [][]byte{{4, 127, 0, 0, 1, 6, 1, 2}}
	cid := must(hex.DecodeString("0171122058c9372cc7cc4bce86206d28941f1409d432d1035f054b84ffdccd4986a01f75"))
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
		&ManifestRequest{Swarm: cid},
		&ManifestReply{Length: 100},
		&Announce{Swarm: cid, Cluster: "C", Addrs: addr, Have: 1, Total: 2, Leaving: true},
		&AnnounceReply{Interval: 30, Members: []Member{{ID: "\x12\x20", Cluster: "A", Addrs: addr}}},
		&ScrapeRequest{Swarm: cid},
		&Scrape{Clusters: []ScrapeCluster{{Name: "A", Nodes: 4, Whole: 1, Missing: 99}}},
		&Permutation{Version: 2, Seed: 9, Members: []PeerID{"\x12\x20", "\x12\xff"}, Since: []uint32{0, 5}},
		&Decoded{Generations: []Range{{First: 4, Count: 1}}, Lost: []Range{{First: 2, Count: 1}}},
		&Holds{Generation: 4, Blocks: []byte{0x81, 0x01}},
		&Taken{Generation: 4},
		&Credential{Envelope: []byte("pass"), Serial: 7},
		&Revoked{List: []byte("list")},
		&Received{Length: 1000, WAN: 300, Flows: []Flow{{Cluster: "A", Bytes: 300}, {Cluster: "B", Bytes: 700}}},
		&Demand{Limit: 3_000_000, Rate: 937_500},
		&AnnounceURLsRequest{},
		&AnnounceURLs{URLs: []string{"udp://192.0.2.7:6969"}},
		&HostsRequest{Swarm: cid, Name: "n2.b", Wanted: []string{"n1.a"}},
		&Hosts{Hosts: []Host{{Name: "n1.a", ID: "\x12\xff", Cluster: "A", Addrs: addr}}},
		&Measured{Ago: 250, Windows: []uint32{1000, 1004}, Links: []MeasuredLink{
			{Cluster: "B", RTT: 20_000, Sent: 700, Lost: 3, Bytes: []uint32{3_000_000, 2_900_000}, Queue: []uint32{40_000, 0}},
			{Cluster: "C", Bytes: []uint32{}, Queue: []uint32{}},
		}},
		&TopologyRequest{Swarm: cid},
		&Topology{
			Hosts: []Host{{Name: "n1.a", ID: "\x12\xff", Cluster: "A", Addrs: [][]byte{}}},
			Links: []TopologyLink{{From: "B", To: "A", Rate: 3_000_000, Full: true, RTT: 20_000, Sent: 700, Lost: 3}},
		},
		&GroupHello{Key: cid, Cluster: "B", Addrs: addr},
		&ParcelTaken{Sender: "\x12\xff", Number: 7},
	}
}

// sampleOrigin returns the origin of the coded block of [blockFrames]: block 5 of the content of the
// vector manifest-file with k = 16, signed by the key with a seed of 32 bytes 7.
func sampleOrigin() (o Origin) {
	swarm := must(hex.DecodeString("0171122058c9372cc7cc4bce86206d28941f1409d432d1035f054b84ffdccd4986a01f75"))
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	copy(o.Encoder[:], key[ed25519.SeedSize:])
	copy(o.Signature[:], ed25519.Sign(key, CodedStatement(swarm, 16, 5, sha256.Sum256([]byte("data")))))
	return o
}

// sampleParcel returns the first of two parts of a message.
func sampleParcel() *Parcel {
	return &Parcel{Sender: "\x12\xff", Number: 7, Part: 0, Parts: 2, Flags: ParcelRelay, Sum: sha256.Sum256([]byte("data")), Payload: []byte("da")}
}

// blockFrames returns a frame of each type without a CBOR body.
func blockFrames() map[Type][]byte {
	o := sampleOrigin()
	return map[Type][]byte{
		typeBlock:       append(AppendBlockHeader(nil, 1, 2, 4), "data"...),
		typeCodedBlock:  append(AppendCodedHeader(nil, 5, &o, 4), "data"...),
		typeGossipBlock: append(AppendGossipHeader(nil, 3, 40, 6), "\x01\x02data"...),
		typeParcel:      AppendParcel(nil, sampleParcel()),
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	for _, m := range samples() {
		frame := frameOf(t, m)
		got, err := ReadMessage(bytes.NewReader(frame))
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%T: got %+v, want %+v", m, got, m)
		}
	}
}

// The numbers of types must not change.
func TestTypesAreNumberedInOrder(t *testing.T) {
	// 28 is reserved, and blocks have no CBOR body.
	without := []Type{0, typeBlock, typeCodedBlock, typeGossipBlock, 28, typeParcel}
	all := samples()
	for i := range 256 {
		_, err := Decode(Type(i), []byte{0xa0})
		if len(all) == 0 || slices.Contains(without, Type(i)) {
			checkError(t, err, "is unknown")
			continue
		}
		checkError(t, err, "message type ")
		if m := all[0]; TypeOf(m) != Type(i) {
			t.Errorf("%T has type %d, want %d", m, TypeOf(m), i)
		}
		all = all[1:]
	}
}

// A nil list is an empty array on the wire, not null.
func TestNilListsAreEmpty(t *testing.T) {
	for _, m := range []Message{
		&Have{}, &Want{}, &Give{}, &Members{}, &AnnounceReply{}, &Scrape{}, &Hello{Swarm: []byte{1}, Cluster: "A"},
		&Measured{Links: []MeasuredLink{{Cluster: "A"}}}, &Topology{},
		&Hosts{}, &HostsRequest{Swarm: []byte{1}, Name: "n"}, &GroupHello{Key: []byte{1}, Cluster: "A"},
	} {
		frame := frameOf(t, m)
		if bytes.IndexByte(frame[frameHeader:], 0xf6) >= 0 {
			t.Errorf("%T: null in %x", m, frame)
		}
		if _, err := ReadMessage(bytes.NewReader(frame)); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
}

func TestDecodeRejectsOtherEncodings(t *testing.T) {
	for _, tt := range []struct {
		name string
		typ  Type
		body []byte
		want string
	}{
		{"deterministic", TypeOf(&Ping{}), []byte{0x81, 0x01}, ""},
		{"empty", TypeOf(&Ping{}), nil, "EOF"},
		{"truncated", TypeOf(&Ping{}), []byte{0x81, 0x19, 0x01}, "unexpected EOF"},
		{"trailing byte", TypeOf(&Ping{}), []byte{0x81, 0x01, 0x00}, "extraneous"},
		{"number in two bytes", TypeOf(&Ping{}), []byte{0x81, 0x18, 0x01}, "deterministic"},
		{"number in nine bytes", TypeOf(&Ping{}), []byte{0x81, 0x1b, 0, 0, 0, 0, 0, 0, 0, 1}, "deterministic"},
		{"array head in two bytes", TypeOf(&Ping{}), []byte{0x98, 0x01, 0x01}, "deterministic"},
		{"indefinite array", TypeOf(&Ping{}), []byte{0x9f, 0x01, 0xff}, "indefinite"},
		{"indefinite bytes", TypeOf(&BulkHello{}), []byte{0x81, 0x5f, 0x41, 0x01, 0xff}, "indefinite"},
		{"indefinite text", TypeOf(&Goodbye{}), []byte{0x82, 0x01, 0x7f, 0xff}, "indefinite"},
		{"tag", TypeOf(&Ping{}), []byte{0x81, 0xc1, 0x01}, "tag"},
		{"null for a number", TypeOf(&Ping{}), []byte{0x81, 0xf6}, "deterministic"},
		{"undefined for a number", TypeOf(&Ping{}), []byte{0x81, 0xf7}, "deterministic"},
		{"null for a list", TypeOf(&Give{}), []byte{0x81, 0xf6}, "deterministic"},
		{"null for the message", TypeOf(&Give{}), []byte{0xf6}, "deterministic"},
		{"negative", TypeOf(&Ping{}), []byte{0x81, 0x20}, "negative"},
		{"float", TypeOf(&Ping{}), []byte{0x81, 0xf9, 0x3c, 0x00}, "primitives"},
		{"number too large", TypeOf(&Bad{}), []byte{0x81, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0}, "overflow"},
		{"few elements", TypeOf(&Ping{}), []byte{0x80}, "different number of elements"},
		{"many elements", TypeOf(&Ping{}), []byte{0x82, 0x01, 0x02}, "different number of elements"},
		{"map", TypeOf(&Ping{}), []byte{0xa1, 0x65, 'N', 'o', 'n', 'c', 'e', 0x01}, "map"},
		{"text not UTF-8", TypeOf(&Goodbye{}), []byte{0x82, 0x01, 0x61, 0xff}, "UTF-8"},
		{"bytes for text", TypeOf(&Goodbye{}), []byte{0x82, 0x01, 0x41, 'a'}, "byte string"},
		{"text for bytes", TypeOf(&BulkHello{}), []byte{0x81, 0x61, 'a'}, "UTF-8 text string"},
		{"numbers for bytes", TypeOf(&BulkHello{}), []byte{0x81, 0x83, 1, 2, 3}, "deterministic"},
		{"text for a peer id", TypeOf(&Members{}), []byte{0x81, 0x81, 0x83, 0x61, 'a', 0x61, 'A', 0x80}, "deterministic"},
		{"too deep", TypeOf(&Ping{}), bytes.Repeat([]byte{0x81}, 9), "nested"},
		{"body of another type", TypeOf(&Have{}), []byte{0x81, 0x01}, "different number of elements"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Decode(tt.typ, tt.body)
			checkError(t, err, tt.want)
			if err != nil && m != nil {
				t.Errorf("returned a message and an error: %+v", m)
			}
		})
	}
}

func TestDecodeKeepsNothing(t *testing.T) {
	for _, m := range samples() {
		body := frameOf(t, m)[frameHeader:]
		got, err := Decode(TypeOf(m), body)
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		clear(body)
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%T changed with its body: %+v", m, got)
		}
	}
}

// frameOf returns the frame of a valid message.
func frameOf(t testing.TB, m Message) []byte {
	t.Helper()
	frame, err := AppendFrame(nil, m)
	if err != nil {
		t.Fatalf("%T: %v", m, err)
	}
	return frame
}
