package proto

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The file has one line for each vector: its name and its bytes in hex. The specification
// quotes each vector.
const (
	vectorsFile = "testdata/vectors.txt"
	wireFile    = "../docs/wire.md"
)

var update = flag.Bool("update", false, "rewrite "+vectorsFile)

type vector struct {
	name string
	// bytes is the encoding of value, a Message, *Manifest, *Plan or *Link. If value is nil,
	// bytes are not decoded.
	bytes []byte
	value any
}

// wireVectors returns the vectors: the frame of each message, some manifests and their
// content ids, and some links.
func wireVectors(t *testing.T) []vector {
	t.Helper()
	var out []vector
	for _, m := range samples() {
		name := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", m), "*proto."))
		out = append(out, vector{name, frameOf(t, m), m})
	}
	out = slices.Insert(out, 14, vector{"block", blockFrames()[typeBlock], nil})
	out = slices.Insert(out, 21, vector{"codedblock", blockFrames()[typeCodedBlock], nil}, vector{"gossipblock", blockFrames()[typeGossipBlock], nil})
	out = slices.Insert(out, len(out)-1, vector{"parcel", blockFrames()[typeParcel], sampleParcel()})
	hash := sha256.Sum256([]byte("hello, world\n"))
	hello := &Manifest{
		Name: "hello.txt", PieceLength: pieceLength, Hashes: hash[:],
		Entries: []Entry{{Kind: File, Size: 13, Mode: 0o644, MTime: 1_700_000_000_123_456_789}},
	}
	folder := &Manifest{
		Name: "data", PieceLength: pieceLength, Hashes: hash[:],
		Entries: []Entry{
			{Path: "a", Kind: Dir, Mode: 0o755, MTime: -1},
			{Path: "a-b", Kind: File, Size: 13, Mode: 0o600},
			{Path: "a/link", Kind: Symlink, Mode: 0o777, Target: "../a-b"},
			{Path: "a/\xff", Kind: File, Mode: 0o644},
		},
	}
	padded := sha256.Sum256(append([]byte("hello, world\n"), make([]byte, MinPieceLength-13)...))
	torrent := &Manifest{
		Name: "linux", PieceLength: MinPieceLength, Hashes: slices.Concat(padded[:], hash[:]),
		Entries: []Entry{
			{Path: "z", Kind: Dir, Mode: 0o755, MTime: NoMTime},
			{Path: "z/run", Kind: File, Size: 13, Mode: 0o755, MTime: NoMTime},
			{Kind: Pad, Size: MinPieceLength - 13},
			{Path: "a", Kind: File, Size: 13, Mode: 0o644, MTime: NoMTime},
		},
	}
	root := &Manifest{
		Name: "team", PieceLength: pieceLength, Hashes: []byte{}, Root: &Entry{Kind: Dir, Mode: 0o2775, MTime: NoMTime},
		Entries: []Entry{{Path: "drop", Kind: Dir, Mode: 0o1777, MTime: NoMTime}},
	}
	empty := &Manifest{Name: "empty", PieceLength: pieceLength, Entries: []Entry{}, Hashes: []byte{}}
	for _, m := range []struct {
		name string
		*Manifest
	}{{"file", hello}, {"folder", folder}, {"empty", empty}, {"torrent", torrent}, {"root", root}} {
		b, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, vector{"manifest-" + m.name, b, m.Manifest}, vector{"cid-" + m.name, ManifestCID(b).Bytes(), nil})
	}
	plan := samplePlan()
	b, err := plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	planned := &Link{Manifest: fullLink().Manifest, Plan: PlanCID(b)}
	out = append(out, vector{"plan", b, plan}, vector{"cid-plan", PlanCID(b).Bytes(), nil},
		vector{"link-plan", []byte(planned.String()), planned})
	out = append(out, vector{"cid-info-hash", fullLink().InfoHash.CID().Bytes(), nil})
	coded := &Link{Manifest: fullLink().Manifest, Coded: 16}
	gossip := &Link{Manifest: fullLink().Manifest, Coded: 16, Strategy: Overlap2}
	return append(out,
		vector{"link-gossip", []byte(gossip.String()), gossip},
		vector{"link", []byte(fullLink().String()), fullLink()},
		vector{"link-coded", []byte(coded.String()), coded},
	)
}

func TestVectors(t *testing.T) {
	all := wireVectors(t)
	var text bytes.Buffer
	for _, v := range all {
		fmt.Fprintf(&text, "%s %x\n", v.name, v.bytes)
	}
	if *update {
		if err := os.WriteFile(vectorsFile, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(recorded)), "\n")
	if len(lines) != len(all) {
		t.Fatalf("%d vectors recorded, want %d", len(lines), len(all))
	}
	for i, v := range all {
		name, text, _ := strings.Cut(lines[i], " ")
		want, err := hex.DecodeString(text)
		if err != nil || name != v.name {
			t.Errorf("line %d: %q, %v, want the vector %q", i+1, name, err, v.name)
			continue
		}
		if !bytes.Equal(v.bytes, want) {
			t.Errorf("%s: encoded as %x, recorded %x", name, v.bytes, want)
		}
		if v.value == nil {
			continue
		}
		if got, err := decodeVector(v.value, want); err != nil || !reflect.DeepEqual(got, v.value) {
			t.Errorf("%s: decoded as %+v, %v, want %+v", name, got, err, v.value)
		}
	}
}

// decodeVector decodes b to the type of like.
func decodeVector(like any, b []byte) (any, error) {
	switch like.(type) {
	case *Manifest:
		return DecodeVerified(ManifestCID(b), b)
	case *Plan:
		return DecodePlan(PlanCID(b), b)
	case *Link:
		return ParseLink(string(b))
	case *Parcel:
		return ReadGroup(bytes.NewReader(b))
	default:
		return ReadMessage(bytes.NewReader(b))
	}
}

// The specification quotes each vector, a link as text and all else in hex, with line breaks
// anywhere.
func TestSpecificationQuotesVectors(t *testing.T) {
	b, err := os.ReadFile(wireFile)
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(b)), "")
	for _, v := range wireVectors(t) {
		want := hex.EncodeToString(v.bytes)
		if strings.HasPrefix(v.name, "link") {
			want = string(v.bytes)
		}
		if !strings.Contains(doc, want) {
			t.Errorf("%s does not quote the vector %s: %s", wireFile, v.name, want)
		}
	}
}
