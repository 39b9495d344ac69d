package proto

import "testing"

// sized returns a manifest without hashes, and so not valid, of length bytes.
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
		{3, 512, 0, "not a multiple of pieces of 512 KiB: take a multiple of 2"},
		{32, 16 << 10, 0, "not a multiple of pieces of 16384 KiB: take a multiple of 64"},
		{16, 32, 0, "pieces of 32 KiB are shorter than a coded block of 64 KiB"},
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

// Numbers of blocks are subject to the limit of pieces.
func TestCodingNumbersAllBlocks(t *testing.T) {
	const most = MaxPieces / namesPerBlock * MinCodedBlock
	if _, err := NewCoding(sized(most, MinCodedBlock), 16); err != nil {
		t.Error(err)
	}
	_, err := NewCoding(sized(most+1, MinCodedBlock), 16)
	checkError(t, err, "too many blocks of 64 KiB, at most 1048576: take longer pieces")
	if _, err := NewCoding(sized(0, MinCodedBlock), 16); err != nil {
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
