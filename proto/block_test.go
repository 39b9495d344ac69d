package proto

import (
	"bytes"
	"io"
	"testing"
)

func TestBlockHeader(t *testing.T) {
	head := AppendBlockHeader(nil, 0x01020304, 0x05060708, 4)
	want := []byte{0, 0, 0, 13, 15, 1, 2, 3, 4, 5, 6, 7, 8}
	if !bytes.Equal(head, want) || len(head) != BlockHeader {
		t.Errorf("got %x, want %x", head, want)
	}
}

func TestReadBlockHeader(t *testing.T) {
	for _, tt := range []struct {
		name string
		head []byte
		want string
	}{
		{"smallest", AppendBlockHeader(nil, 0, 0, 1), ""},
		{"largest", AppendBlockHeader(nil, MaxPieces-1, MaxPieceLength-MaxBlock, MaxBlock), ""},
		{"no payload", AppendBlockHeader(nil, 0, 0, 0), "bad span 0:0+0"},
		{"too long", AppendBlockHeader(nil, 0, 0, MaxBlock+1), "bad span 0:0+262145"},
		{"no such piece", AppendBlockHeader(nil, MaxPieces, 0, 1), "bad span"},
		{"past the end", AppendBlockHeader(nil, 0, MaxPieceLength, 1), "bad span"},
		{"huge", []byte{255, 255, 255, 255, 15, 0, 0, 0, 0, 0, 0, 0, 0}, "bad span"},
		{"short header", []byte{0, 0, 0, 8, 15, 0, 0, 0, 0, 0, 0, 0, 0}, "want a block"},
		{"empty frame", make([]byte, BlockHeader), "bulk frame of type 0 with 0 bytes, want a block"},
		{"another message", []byte{0, 0, 0, 20, 1, 0, 0, 0, 0, 0, 0, 0, 0}, "bulk frame of type 1 with 20 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var head [BlockHeader]byte
			s, err := ReadBlockHeader(bytes.NewReader(tt.head), &head)
			checkError(t, err, tt.want)
			if err == nil && !bytes.Equal(AppendBlockHeader(nil, s.Piece, s.Begin, int(s.Length)), tt.head) {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestReadBlockHeaderAtTheEnd(t *testing.T) {
	var head [BlockHeader]byte
	whole := AppendBlockHeader(nil, 1, 2, 3)
	for n := range len(whole) {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, err := ReadBlockHeader(bytes.NewReader(whole[:n]), &head); err != want {
			t.Errorf("after %d bytes: %v, want %v", n, err, want)
		}
	}
}

func TestReadBlockHeaderAllocatesNothing(t *testing.T) {
	head := new([BlockHeader]byte)
	r := bytes.NewReader(AppendBlockHeader(nil, 1, 2, 3))
	if n := testing.AllocsPerRun(100, func() {
		_, _ = r.Seek(0, io.SeekStart) // cannot fail
		if _, err := ReadBlockHeader(r, head); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
