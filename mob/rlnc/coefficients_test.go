package rlnc

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestExpand has the values of SplitMix64 that its other implementations are checked
// against.
func TestExpand(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		want []uint64
	}{
		{1234567, []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423}},
		{0, []uint64{0xe220a8397b1dcdaf}},
	} {
		var want []byte
		for _, z := range c.want {
			want = binary.LittleEndian.AppendUint64(want, z)
		}
		for k := range len(want) {
			v := make([]byte, k+1)
			if expand(c.seed, v); !bytes.Equal(v, want[:k+1]) {
				t.Errorf("seed %d: %x, want %x", c.seed, v, want[:k+1])
			}
		}
	}
}

// TestExpandNotZero goes through enough seeds that many would give zero.
func TestExpandNotZero(t *testing.T) {
	v := make([]byte, 1)
	var seen [256]int
	for seed := range uint64(100_000) {
		expand(seed, v)
		seen[v[0]]++
	}
	for c, n := range seen {
		if c == 0 && n != 0 {
			t.Errorf("%d seeds expand to zero", n)
		}
		if c != 0 && (n < 280 || n > 510) { // 392 expected; six standard deviations
			t.Errorf("%d seeds of 100000 expand to %d", n, c)
		}
	}
}

// TestNamed wants names below k to be source blocks, and others to be seeds.
func TestNamed(t *testing.T) {
	v, want := []byte{9, 9, 9, 9}, make([]byte, 4)
	Named(v, 2)
	if !bytes.Equal(v, []byte{0, 0, 1, 0}) {
		t.Errorf("a source block has %v", v)
	}
	Named(v, 4)
	if expand(4, want); !bytes.Equal(v, want) {
		t.Errorf("a coded block has %v, want %v", v, want)
	}
	b := newBasis(t, 4)
	for name := 2; name < 6; name++ {
		Named(v, name)
		addTo(t, b, v)
	}
	if b.Rank() != 4 {
		t.Errorf("blocks 2 to 5 of 4 have rank %d", b.Rank())
	}
}

// TestBounds tries every k around the bounds.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		k  int
		ok bool
	}{{-1, false}, {0, false}, {1, true}, {2, true}, {254, true}, {255, true}, {256, false}, {math.MaxInt, false}} {
		made := map[string]error{"CheckK": CheckK(c.k)}
		_, made["NewBasis"] = NewBasis(c.k)
		_, made["FullBasis"] = FullBasis(c.k)
		_, made["NewDecoder"] = NewDecoder(c.k, 100)
		if c.k >= 0 && c.k <= 256 {
			blocks := make([][]byte, c.k)
			for i := range blocks {
				blocks[i] = []byte("block")
			}
			_, made["NewEncoder"] = NewEncoder(blocks)
		}
		for name, err := range made {
			if (err == nil) != c.ok {
				t.Errorf("%s with k = %d: %v", name, c.k, err)
			}
		}
	}
}
