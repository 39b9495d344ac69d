package delta_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/proto"
)

const pieceLength = proto.MinPieceLength

// version has the paths and bytes of files.
type version struct {
	paths []string
	files map[string][]byte
}

func (v version) manifest() *proto.Manifest {
	m := &proto.Manifest{Name: "v", PieceLength: pieceLength}
	for _, p := range v.paths {
		m.Entries = append(m.Entries, proto.Entry{Path: p, Kind: proto.File, Size: int64(len(v.files[p])), Mode: 0o644})
	}
	return m
}

func (v version) open(path string) (io.ReaderAt, error) {
	if b, ok := v.files[path]; ok {
		return bytes.NewReader(b), nil
	}
	return nil, fs.ErrNotExist
}

// stream returns all bytes.
func (v version) stream() (b []byte) {
	for _, p := range v.paths {
		b = append(b, v.files[p]...)
	}
	return b
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestBase reads a version from the one before: a file grew by a byte, one is new, and one was removed. Only the pieces of
// these differ.
func TestBase(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	old := version{[]string{"a", "b", "gone", "z"}, map[string][]byte{
		"a": randomBytes(r, pieceLength/3), "b": randomBytes(r, 3*pieceLength), "gone": randomBytes(r, 100), "z": randomBytes(r, 2*pieceLength),
	}}
	next := version{[]string{"a", "b", "new", "z"}, map[string][]byte{
		"a": append([]byte{7}, old.files["a"]...), "b": old.files["b"], "new": randomBytes(r, 100), "z": old.files["z"],
	}}
	m := next.manifest()
	base, stream := delta.NewBase(m, old.open), next.stream()
	differ := 0
	for i := range m.Pieces() {
		p := make([]byte, m.PieceSize(i))
		if !base.Read(i, p) {
			t.Fatalf("piece %d is not known", i)
		}
		if !bytes.Equal(p, stream[m.PieceOffset(i):][:len(p)]) {
			differ++
		}
	}
	if differ != 2 { // the piece of a, and the one of new
		t.Errorf("%d of %d pieces differ, want 2", differ, m.Pieces())
	}
	alone := version{[]string{"new"}, map[string][]byte{"new": make([]byte, 10)}}.manifest()
	if delta.NewBase(alone, old.open).Read(0, make([]byte, 10)) {
		t.Error("a piece of new files alone is known")
	}
}

// write returns the delta of a version, and how many pieces have no difference in it.
func write(t *testing.T, m *proto.Manifest, base delta.Pieces, stream []byte) (b []byte, left int) {
	t.Helper()
	var out bytes.Buffer
	if err := delta.Start(&out); err != nil {
		t.Fatal(err)
	}
	var e delta.Encoder
	for i := range m.Pieces() {
		next := stream[m.PieceOffset(i):][:m.PieceSize(i)]
		before := make([]byte, len(next))
		base.Read(i, before)
		if bytes.Equal(before, next) {
			continue
		}
		difference := e.Encode(bytes.Clone(next), before)
		if difference == nil {
			left++
			continue
		}
		if err := delta.Add(&out, i, difference); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes(), left
}

// TestWeights encodes a version in which 1 % of values of two bytes have another low byte, and a piece of random bytes: the delta is
// small, all other pieces come from it, and a cut or changed delta does no harm.
func TestWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	before := randomBytes(r, 20*pieceLength+5)
	after := bytes.Clone(before)
	for range len(after) / 2 / 100 {
		after[r.IntN(len(after)/2)*2] ^= byte(1 + r.IntN(255))
	}
	copy(after[4*pieceLength:], randomBytes(r, pieceLength))
	old := version{[]string{""}, map[string][]byte{"": before}}
	m := version{[]string{""}, map[string][]byte{"": after}}.manifest()
	base := delta.NewBase(m, old.open)
	b, left := write(t, m, base, after)
	if left != 1 || len(b) > len(after)*3/100 {
		t.Errorf("%d pieces without a difference, want 1; %.2f %% of the size, want 3 at most", left, 100*float64(len(b))/float64(len(after)))
	}
	d, err := delta.New(bytes.NewReader(b), int64(len(b)), m.Pieces(), base)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Pieces() {
		p := make([]byte, m.PieceSize(i))
		same := d.Read(i, p) && bytes.Equal(p, after[m.PieceOffset(i):][:len(p)])
		if same != (i != 4) {
			t.Errorf("piece %d from the delta: %v", i, same)
		}
	}
	for _, n := range []int{0, 5, 12, 15, 25, len(b) - 1} {
		if d, err := delta.New(bytes.NewReader(b[:n]), int64(n), m.Pieces(), base); err == nil && n != 12 {
			t.Errorf("%d bytes of a delta: %v", n, d)
		}
	}
	if _, err := delta.New(bytes.NewReader(b), int64(len(b)), m.Pieces()/2, base); err == nil {
		t.Error("a delta has more pieces than the version")
	}
}

// FuzzDelta reads any bytes as a delta.
func FuzzDelta(f *testing.F) {
	old := version{[]string{""}, map[string][]byte{"": make([]byte, 2*pieceLength)}}
	m := old.manifest()
	base := delta.NewBase(m, old.open)
	changed := make([]byte, 2*pieceLength)
	changed[pieceLength] = 1
	var e delta.Encoder
	var out bytes.Buffer
	err := errors.Join(delta.Start(&out), delta.Add(&out, 1, e.Encode(changed[pieceLength:], make([]byte, pieceLength))))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Fuzz(func(_ *testing.T, b []byte) {
		d, err := delta.New(bytes.NewReader(b), int64(len(b)), m.Pieces(), base)
		if err != nil {
			return
		}
		for i := range m.Pieces() {
			d.Read(i, make([]byte, m.PieceSize(i)))
		}
	})
}
