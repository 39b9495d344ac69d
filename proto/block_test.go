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
	b := &Block{Piece: 7, Begin: 9, Data: []byte("data")}
	if got := append(AppendBlockHeader(nil, 7, 9, 4), "data"...); !bytes.Equal(got, frameOf(t, b)) {
		t.Errorf("header and payload are %x, the frame is %x", got, frameOf(t, b))
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

func TestDecodeBlock(t *testing.T) {
	for _, tt := range []struct {
		name string
		body []byte
		want string
	}{
		{"short header", make([]byte, 7), "message type 15: short block header"},
		{"no payload", make([]byte, 8), "message type 15: bad span 0:0+0"},
		{"one byte", make([]byte, 9), ""},
		{"largest", make([]byte, 8+MaxBlock), ""},
		{"too long", make([]byte, 8+MaxBlock+1), "bad span"},
	} {
		m, err := Decode(TypeBlock, tt.body)
		checkError(t, err, tt.want)
		if err != nil && m != nil {
			t.Errorf("%s: returned a message and an error", tt.name)
		}
	}
	_, err := AppendFrame(nil, &Block{Data: make([]byte, MaxBlock+1)})
	checkError(t, err, "bad span")
}
