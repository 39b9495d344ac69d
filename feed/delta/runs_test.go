package delta

import (
	"bytes"
	"testing"
)

func TestRuns(t *testing.T) {
	const size = 1 << 12
	for _, tt := range []struct {
		name    string
		differs func(i int) bool
		most    int // bytes of runs
	}{
		{"nothing", func(int) bool { return false }, 0},
		{"all", func(int) bool { return true }, size + 3},
		{"the first byte", func(i int) bool { return i == 0 }, 3},
		{"the last byte", func(i int) bool { return i == size-1 }, 4},
		{"each second byte", func(i int) bool { return i%2 == 0 }, size + 3},
		{"short gaps", func(i int) bool { return i%4 == 0 }, size + 3},
		{"a run for each byte", func(i int) bool { return i%5 == 0 }, size*3/5 + 3},
		{"long gaps", func(i int) bool { return i%300 < 2 }, size / 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, next := bytes.Repeat([]byte{7}, size), bytes.Repeat([]byte{7}, size)
			difference := make([]byte, size)
			for i := range next {
				if tt.differs(i) {
					next[i], difference[i] = byte(i|16), 7^byte(i|16)
				}
			}
			runs := appendRuns(nil, difference)
			if len(runs) > tt.most {
				t.Errorf("%d bytes of runs, want %d", len(runs), tt.most)
			}
			if !xorRuns(before, runs) || !bytes.Equal(before, next) {
				t.Error("another piece")
			}
		})
	}
}

func TestRunsThatDoNotFit(t *testing.T) {
	for _, runs := range []string{
		"\x00", "\x00\x00", "\x00\x01", "\x00\x05abcde", "\x04\x01a", "\x02\x03abc", "\x00\x01a\x03\x01b",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01a", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01a",
	} {
		if xorRuns(make([]byte, 4), []byte(runs)) {
			t.Errorf("%q is accepted", runs)
		}
	}
}
