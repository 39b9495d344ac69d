package proto

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestManifestRoundTrip(t *testing.T) {
	for _, m := range manifests() {
		b, err := m.Encode()
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		got, err := DecodeVerified(ManifestCID(b), b)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s: got %+v, want %+v", m.Name, got, m)
		}
	}
}

func TestDecodeManifestErrors(t *testing.T) {
	m := tree()
	good, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	// The head is 85 01 64 "data" 1a 00040000 87: version, name, piece length.
	alter := func(at int, old, with []byte) []byte {
		if !bytes.Equal(good[at:at+len(old)], old) {
			t.Fatalf("bytes at %d are %x, not %x", at, good[at:at+len(old)], old)
		}
		return append(append(append([]byte{}, good[:at]...), with...), good[at+len(old):]...)
	}
	bare := func(m Manifest) []byte {
		b, err := encMode.Marshal(&wireManifest{Version: 1, Name: m.Name, PieceLength: m.PieceLength, Hashes: m.Hashes})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "manifest of 0 bytes"},
		{"too long", make([]byte, MaxManifest+1), "want 1 to"},
		{"cut", good[:len(good)-1], "unexpected EOF"},
		{"trailing byte", append(bytes.Clone(good), 0), "extraneous"},
		{"version 2", alter(1, []byte{1}, []byte{2}), "manifest of version 2, only 1 is known"},
		{"long integer", alter(1, []byte{1}, []byte{0x18, 1}), "canonical"},
		{"long array", alter(0, []byte{0x85}, []byte{0x98, 5}), "canonical"},
		{"endless array", append(alter(0, []byte{0x85}, []byte{0x9f}), 0xff), "indefinite"},
		{"endless string", alter(2, []byte{0x64, 'd', 'a', 't', 'a'}, []byte{0x7f, 0x64, 'd', 'a', 't', 'a', 0xff}), "indefinite"},
		{"tag", alter(1, []byte{1}, []byte{0xc2, 0x41, 1}), "tag"},
		{"null version", alter(1, []byte{1}, []byte{0xf6}), "version 0"},
		{"name as bytes", alter(2, []byte{0x64}, []byte{0x44}), "byte string"},
		{"name not UTF-8", alter(2, []byte{0x64, 'd'}, []byte{0x64, 0xff}), "UTF-8"},
		{"few elements", alter(0, []byte{0x85, 1}, []byte{0x84}), "different number of elements"},
		{"many elements", append(alter(0, []byte{0x85}, []byte{0x86}), 0), "different number of elements"},
		{"a map", []byte{0xa0}, "map"},
		{"invalid", bare(Manifest{Name: "..", PieceLength: pieceLength}), "name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeManifest(tt.b)
			checkError(t, err, tt.want)
		})
	}
}

func TestDecodeVerified(t *testing.T) {
	b, err := file(1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	other := append(bytes.Clone(b), 0)
	_, err = DecodeVerified(ManifestCID(b), other)
	checkError(t, err, "manifest does not match its content id")
	for name, c := range otherCIDs(b) {
		if _, err := DecodeVerified(c, b); err == nil || !strings.Contains(err.Error(), "want CIDv1, dag-cbor, sha2-256") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A short body can claim any number of elements. Decoding it must allocate little.
func TestHugeCountsAllocateLittle(t *testing.T) {
	head := []byte{0x85, 1, 0x61, 'x', 0x1a, 0, 4, 0, 0}
	for _, claim := range [][]byte{
		{0x9a, 0, 0x10, 0, 0},                           // 2^20 entries
		{0x9a, 0xff, 0xff, 0xff, 0xff},                  // 2^32-1 entries
		{0x9b, 0x7f, 255, 255, 255, 255, 255, 255, 255}, // 2^63-1 entries
		{0x9b, 0xff, 255, 255, 255, 255, 255, 255, 255}, // 2^64-1 entries
		{0x80, 0x5a, 0x7f, 0xff, 0xff, 0xff},            // 2^31-1 bytes of hashes
	} {
		b := append(append(bytes.Clone(head), claim...), make([]byte, 100)...)
		if n := allocated(func() {
			if _, err := DecodeManifest(b); err == nil {
				t.Errorf("%x: accepted", claim)
			}
		}); n > 64<<10 {
			t.Errorf("%x: allocated %d bytes for %d", claim, n, len(b))
		}
	}
	// A million entries of a byte each take no memory either.
	empty := slices.Concat(head, []byte{0x9a, 0, 0x10, 0, 0}, bytes.Repeat([]byte{0x80}, MaxEntries), []byte{0x40})
	if n := allocated(func() {
		if _, err := DecodeManifest(empty); err == nil {
			t.Error("a million empty entries accepted")
		}
	}); n > 1<<20 {
		t.Errorf("allocated %d bytes for %d of empty entries", n, len(empty))
	}
	// The worst case is a full frame of one-byte elements.
	frame := append([]byte{0x83, 0x9a, 0, 0x0f, 0xff, 0}, bytes.Repeat([]byte{0x80}, 0xfff00)...)
	if n := allocated(func() {
		if _, err := Decode(TypeOf(&Have{}), frame); err == nil {
			t.Error("a million empty ranges accepted")
		}
	}); n > 1<<20 {
		t.Errorf("allocated %d bytes for %d", n, len(frame))
	}
}

// allocated returns the number of bytes that f allocates: the least of three calls, since the runtime allocates, too.
func allocated(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// million returns a manifest of a million files in a thousand directories.
func million() *Manifest {
	m := &Manifest{Name: "million", PieceLength: pieceLength}
	for d := range 1000 {
		dir := fmt.Sprintf("folder-%04d", d)
		m.Entries = append(m.Entries, Entry{Path: dir, Kind: Dir, Mode: 0o755, MTime: 1_700_000_000_123_456_789})
		for f := range 1000 {
			m.Entries = append(m.Entries, Entry{Path: fmt.Sprintf("%s/file-%06d.dat", dir, f), Kind: File, Size: 1000, Mode: 0o644})
		}
	}
	m.Hashes = make([]byte, m.Pieces()*sha256.Size)
	return m
}

func BenchmarkDecodeManifest(b *testing.B) {
	body, err := million().Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeManifest(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	sorted, shuffled := million(), million()
	rand.Shuffle(len(shuffled.Entries), func(i, j int) {
		shuffled.Entries[i], shuffled.Entries[j] = shuffled.Entries[j], shuffled.Entries[i]
	})
	// Directories come first, since a directory must come before its entries.
	slices.SortStableFunc(shuffled.Entries, func(a, b Entry) int { return int(b.Kind) - int(a.Kind) })
	for name, m := range map[string]*Manifest{"sorted": sorted, "shuffled": shuffled} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
