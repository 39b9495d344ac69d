package proto

import (
	"bytes"
	"reflect"
	"testing"
)

// A message has one encoding.
func FuzzReadMessage(f *testing.F) {
	for _, m := range samples() {
		f.Add(frameOf(f, m))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		r := bytes.NewReader(frame)
		m, err := ReadMessage(r)
		if err != nil {
			return
		}
		frame = frame[:len(frame)-r.Len()]
		again, err := AppendFrame(nil, m)
		if err != nil {
			t.Fatalf("%+v was read but cannot be written: %v", m, err)
		}
		if !bytes.Equal(again, frame) {
			t.Fatalf("%+v: read %x, wrote %x", m, frame, again)
		}
	})
}

// A header of a block that is read is written as it was.
func FuzzBlockHeader(f *testing.F) {
	f.Add(blockFrames()[typeBlock])
	f.Add(AppendBlockHeader(nil, MaxPieces-1, MaxPieceLength-MaxBlock, MaxBlock))
	f.Add(frameOf(f, &Ping{Nonce: 1}))
	f.Add([]byte{0, 0, 0, 8, 15, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		r := bytes.NewReader(frame)
		var head [BlockHeader]byte
		s, err := ReadBlockHeader(r, &head)
		if err != nil {
			return
		}
		if again := AppendBlockHeader(nil, s.Piece, s.Begin, int(s.Length)); !bytes.Equal(again, frame[:BlockHeader]) {
			t.Fatalf("read %x, wrote %x", frame[:BlockHeader], again)
		}
	})
}

// A header of a coded block that is read is written as it was.
func FuzzCodedHeader(f *testing.F) {
	o := sampleOrigin()
	f.Add(blockFrames()[typeCodedBlock])
	f.Add(AppendCodedHeader(nil, MaxPieces-1, &o, MaxBlock))
	f.Add(append(AppendBlockHeader(nil, 1, 2, CodedHeader), make([]byte, CodedHeader)...))
	f.Add([]byte{0, 0, 0, 8, 22, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		r := bytes.NewReader(frame)
		var head [CodedHeader]byte
		s, o, err := ReadCodedHeader(r, &head)
		if err != nil {
			return
		}
		if again := AppendCodedHeader(nil, s.Piece, &o, int(s.Length)); !bytes.Equal(again, frame[:CodedHeader]) {
			t.Fatalf("read %x, wrote %x", frame[:CodedHeader], again)
		}
	})
}

func FuzzDecodeManifest(f *testing.F) {
	for _, m := range manifests() {
		b, err := m.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeManifest(b)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%v: read %x, wrote %x", err, b, again)
		}
		for i := range m.Pieces() {
			m.PieceSize(i)
			m.Hash(i)
		}
		checkPaths(t, m)
	})
}

func FuzzDecodePlan(f *testing.F) {
	for _, p := range []*Plan{samplePlan(), {Hosts: []PlanHost{{Name: "a", Cluster: "A"}}}} {
		b, err := p.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePlan(PlanCID(b), b)
		if err != nil {
			return
		}
		if again, err := p.Encode(); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%v: read %x, wrote %x", err, b, again)
		}
	})
}

// A header of a gossip block that is read is written as it was.
func FuzzGossipHeader(f *testing.F) {
	f.Add(blockFrames()[typeGossipBlock])
	f.Add(AppendGossipHeader(nil, MaxPieces-1, 1<<32-1, MaxGossip))
	f.Add(append(AppendBlockHeader(nil, 1, 2, GossipHeader), make([]byte, GossipHeader)...))
	f.Add([]byte{0, 0, 0, 8, 23, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		var head [GossipHeader]byte
		generation, round, n, err := ReadGossipHeader(bytes.NewReader(frame), &head)
		if err != nil {
			return
		}
		if again := AppendGossipHeader(nil, generation, round, n); !bytes.Equal(again, frame[:GossipHeader]) {
			t.Fatalf("read %x, wrote %x", frame[:GossipHeader], again)
		}
	})
}

// A frame of a group's stream that is read is written as it was.
func FuzzReadGroup(f *testing.F) {
	f.Add(blockFrames()[typeParcel])
	f.Add(AppendParcel(nil, &Parcel{Sender: "a", Number: ParcelDirect, Parts: 1, Payload: make([]byte, MaxParcel)}))
	f.Add(frameOf(f, &GroupHello{Key: []byte{1}, Cluster: "A"}))
	f.Add(frameOf(f, &ParcelTaken{Sender: "a", Number: 1}))
	f.Add([]byte{0, 0, 0, 8, 41, 255, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		r := bytes.NewReader(frame)
		m, err := ReadGroup(r)
		if err != nil {
			return
		}
		frame = frame[:len(frame)-r.Len()]
		var again []byte
		if p, ok := m.(*Parcel); ok {
			again = AppendParcel(nil, p)
		} else if again, err = AppendFrame(nil, m); err != nil {
			t.Fatalf("%+v was read but cannot be written: %v", m, err)
		}
		if !bytes.Equal(again, frame) {
			t.Fatalf("%+v: read %x, wrote %x", m, frame, again)
		}
	})
}

// checkPaths is a slow oracle for the rules that keep a tree within its root.
func checkPaths(t *testing.T, m *Manifest) {
	seen := map[string]EntryKind{"": Dir}
	for _, e := range m.Entries {
		if e.Kind == Pad || len(m.Entries) == 1 && e.Path == "" {
			continue
		}
		if _, twice := seen[e.Path]; twice || seen[parentOf(e.Path)] != Dir {
			t.Fatalf("path %q in %+v", e.Path, m.Entries)
		}
		seen[e.Path] = e.Kind
	}
}

func FuzzParseLink(f *testing.F) {
	f.Add(fullLinkText)
	f.Add("magnet:?xt=urn:mob:" + linkID)
	f.Add("magnet:?xl=5&tr=u%20+&dn=n&xt=urn%3Amob%3A" + linkID + "&a&=&b=100%")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLink(text)
		if err != nil {
			return
		}
		again, err := ParseLink(l.String())
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("%q is %+v, and %q is %+v, %v", text, l, l.String(), again, err)
		}
	})
}
