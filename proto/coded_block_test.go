package proto

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"
)

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
		{
			"a plain block", append(AppendBlockHeader(nil, 1, 0, 1000), make([]byte, 1000)...),
			"bulk frame of type 15 with 1009 bytes, want a coded block",
		},
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

// A signature must not be valid for another swarm, k, number or payload.
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
