package rlnc_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/mobgrid/mob/mob/rlnc"
)

// TestSeeds has the values of SplitMix64 that its other implementations are checked
// against.
func TestSeeds(t *testing.T) {
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
			rlnc.Coefficients{Seed: c.seed}.Expand(v)
			if !bytes.Equal(v, want[:k+1]) {
				t.Errorf("seed %d: %x, want %x", c.seed, v, want[:k+1])
			}
		}
	}
}

// TestSeedsNotZero goes through enough seeds that many would give zero.
func TestSeedsNotZero(t *testing.T) {
	v := make([]byte, 1)
	var seen [256]int
	for seed := range uint64(100_000) {
		rlnc.Coefficients{Seed: seed}.Expand(v)
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

func TestCoefficients(t *testing.T) {
	for _, c := range []struct {
		k    int
		wire string
		want rlnc.Coefficients
	}{
		{1, "0101", rlnc.Coefficients{Vector: []byte{1}}},
		{3, "03000200", rlnc.Coefficients{Vector: []byte{0, 2, 0}}},
		{3, "000000000000000102", rlnc.Coefficients{Seed: 0x102}},
		{255, "00ffffffffffffffff", rlnc.Coefficients{Seed: 1<<64 - 1}},
	} {
		wire, err := hex.DecodeString(c.wire)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.want.Append(nil); !bytes.Equal(got, wire) {
			t.Errorf("%+v is %x, want %x", c.want, got, wire)
		}
		got, rest, err := rlnc.Parse(append(wire, "rest"...), c.k)
		if err != nil || !bytes.Equal(got.Vector, c.want.Vector) || got.Seed != c.want.Seed || string(rest) != "rest" {
			t.Errorf("%s: %+v, %q, %v", c.wire, got, rest, err)
		}
	}
}

func TestBadCoefficients(t *testing.T) {
	for _, c := range []struct {
		name string
		k    int
		wire []byte
	}{
		{"nothing", 3, nil},
		{"no seed", 3, []byte{0}},
		{"a short seed", 3, make([]byte, 8)},
		{"too few", 3, []byte{2, 1, 1}},
		{"too many", 3, []byte{4, 1, 1, 1, 1}},
		{"cut short", 3, []byte{3, 1, 1}},
		{"all zero", 3, []byte{3, 0, 0, 0}},
		{"k beyond what there is", 256, append([]byte{255}, bytes.Repeat([]byte{1}, 256)...)},
	} {
		if got, _, err := rlnc.Parse(c.wire, c.k); !errors.Is(err, rlnc.ErrCoefficients) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// What parses must encode to the same bytes, and expand to a vector that can be
// used.
func FuzzParse(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3, 4}, byte(3))
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, byte(255))
	f.Add([]byte{1, 0}, byte(1))
	f.Fuzz(func(t *testing.T, wire []byte, k byte) {
		c, rest, err := rlnc.Parse(wire, int(k))
		if err != nil {
			if !errors.Is(err, rlnc.ErrCoefficients) {
				t.Fatal(err)
			}
			return
		}
		if again := append(c.Append(nil), rest...); !bytes.Equal(again, wire) {
			t.Fatalf("%x was read, %x written", wire, again)
		}
		if n := len(wire) - len(rest); n > rlnc.MaxCoefficients {
			t.Fatalf("%d bytes of coefficients", n)
		}
		v := make([]byte, k)
		c.Expand(v)
		if bytes.Count(v, []byte{0}) == len(v) && k > 0 {
			t.Fatalf("%x expands to zeros", wire)
		}
	})
}
