package proto

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"
)

// sized is a manifest of a content of so many bytes, which is not valid for lack of
// hashes.
func sized(length int64, piece uint32) *Manifest {
	return &Manifest{PieceLength: piece, Entries: []Entry{{Kind: File, Size: length}}}
}

func TestCodingBlocks(t *testing.T) {
	for _, tt := range []struct {
		k     int
		piece uint32 // KiB
		block int    // KiB
		want  string
	}{
		{4, 256, 64, ""},
		{2, 256, 128, ""},
		{2, 512, 256, ""},
		{3, 256, 256, ""},
		{255, 256, 256, ""},
		{64, 256, 64, ""},
		{64, 16 << 10, 256, ""},
		{192, 16 << 10, 256, ""},
		{128, 16 << 10, 128, ""},
		{16, 1 << 10, 64, ""},
		{16, 4 << 10, 256, ""},
		{3, 512, 0, "not whole pieces of 512 KiB: take a multiple of 2"},
		{32, 16 << 10, 0, "not whole pieces of 16384 KiB: take a multiple of 64"},
		{0, 256, 0, "generations of 0 blocks: want 2 to 255"},
		{1, 256, 0, "generations of 1 blocks"},
		{256, 256, 0, "generations of 256 blocks"},
		{-1, 256, 0, "generations of -1 blocks"},
	} {
		c, err := NewCoding(sized(1<<30, tt.piece<<10), tt.k)
		checkError(t, err, tt.want)
		if err == nil && (c.K != tt.k || c.Block != tt.block<<10) {
			t.Errorf("k %d, pieces of %d KiB: %+v, want blocks of %d KiB", tt.k, tt.piece, c, tt.block)
		}
	}
}

// The numbers of a content's blocks are pieces on the wire.
func TestCodingHasNumbersForAll(t *testing.T) {
	const most = MaxPieces / CodedNames * MinCodedBlock
	if _, err := NewCoding(sized(most, MinPieceLength), 16); err != nil {
		t.Error(err)
	}
	_, err := NewCoding(sized(most+1, MinPieceLength), 16)
	checkError(t, err, "too many blocks of 64 KiB, at most 1048576: take longer pieces")
	if _, err := NewCoding(sized(0, MinPieceLength), 16); err != nil {
		t.Error(err)
	}
}

func TestCodingAgrees(t *testing.T) {
	gossip := Coding{K: 16, Block: MinCodedBlock, Strategy: Overlap2}
	plain, sixteen, most := Coding{}, Coding{K: 16, Block: MinCodedBlock}, Coding{K: MaxCodedK, Block: MaxBlock}
	for _, tt := range []struct {
		c        Coding
		features uint64
		want     bool
	}{
		{plain, 0, true},
		{plain, plain.Features(), true},
		{plain, sixteen.Features(), false},
		{plain, gossip.Features(), false},
		{plain, 1 << 2, true},
		{sixteen, 0x1001, true},
		{sixteen, sixteen.Features() | 1<<20 | 1<<2, true},
		{sixteen, gossip.Features(), false},
		{gossip, sixteen.Features(), false},
		{gossip, gossip.Features() | 1<<20 | 1<<2, true},
		{gossip, gossip.Features() | 1, false},
		{gossip, Coding{K: 16, Strategy: RandomBlock}.Features(), false},
		{gossip, Coding{K: 17, Strategy: Overlap2}.Features(), false},
		{gossip, 0x31002, true},
		{sixteen, most.Features(), false},
		{sixteen, 0, false},
		{sixteen, 0x1000, false},
		{most, 0xff01, true},
	} {
		if got := tt.c.Agrees(tt.features); got != tt.want {
			t.Errorf("k %d and features %x: %v", tt.c.K, tt.features, got)
		}
	}
}

func TestReadCodedHeader(t *testing.T) {
	o := sampleOrigin()
	short := AppendCodedHeader(nil, 0, &o, 0)
	short[3]--
	for _, tt := range []struct {
		name string
		head []byte
		want string
	}{
		{"smallest", AppendCodedHeader(nil, 0, &o, 1), ""},
		{"largest", AppendCodedHeader(nil, MaxPieces-1, &o, MaxBlock), ""},
		{"no payload", AppendCodedHeader(nil, 0, &o, 0), "bad span 0:0+0"},
		{"too long", AppendCodedHeader(nil, 0, &o, MaxBlock+1), "bad span 0:0+262145"},
		{"no such number", AppendCodedHeader(nil, MaxPieces, &o, 1), "bad span"},
		{"short header", short, "want a coded block"},
		{"a plain block", append(AppendBlockHeader(nil, 1, 0, 1000), make([]byte, 1000)...), "bulk frame of type 15 with 1009 bytes, want a coded block"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var head [CodedHeader]byte
			s, got, err := ReadCodedHeader(bytes.NewReader(tt.head), &head)
			checkError(t, err, tt.want)
			if err == nil && !bytes.Equal(AppendCodedHeader(nil, s.Piece, &got, int(s.Length)), tt.head) {
				t.Errorf("got %+v %+v", s, got)
			}
		})
	}
	var head [CodedHeader]byte
	whole := AppendCodedHeader(nil, 1, &o, 3)
	for n := range len(whole) {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, _, err := ReadCodedHeader(bytes.NewReader(whole[:n]), &head); err != want {
			t.Errorf("after %d bytes: %v, want %v", n, err, want)
		}
	}
}

// What is signed differs for another swarm, k, number and payload: nobody can be
// blamed by what it said of something else.
func TestCodedStatement(t *testing.T) {
	seen := map[string]bool{}
	for _, swarm := range []string{"a", "b"} {
		for _, k := range []int{2, 255} {
			for _, number := range []uint32{0, MaxPieces - 1} {
				for _, payload := range []string{"", "x"} {
					seen[string(CodedStatement([]byte(swarm), k, number, sha256.Sum256([]byte(payload))))] = true
				}
			}
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d statements, want 16", len(seen))
	}
}
