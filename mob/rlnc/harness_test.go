package rlnc_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/mobgrid/mob/mob/rlnc"
)

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n+7)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	return b[:n:n]
}

// generation makes k random blocks of the given length, the last of them of
// another.
func generation(rng *rand.Rand, k, length, last int) [][]byte {
	blocks := make([][]byte, k)
	for i := range blocks {
		blocks[i] = random(rng, length)
	}
	blocks[k-1] = random(rng, last)
	return blocks
}

func newEncoder(t testing.TB, blocks [][]byte) *rlnc.Encoder {
	t.Helper()
	e, err := rlnc.NewEncoder(blocks)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newDecoder(t testing.TB, k, length int) *rlnc.Decoder {
	t.Helper()
	d, err := rlnc.NewDecoder(k, length)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// coded makes a random coded block.
func coded(t testing.TB, e *rlnc.Encoder, rng *rand.Rand) rlnc.Block {
	t.Helper()
	b := rlnc.Block{Vector: make([]byte, e.K()), Payload: make([]byte, e.Length())}
	rlnc.Draw(b.Vector, rng)
	if err := e.Encode(b.Payload, b.Vector, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// recoded makes a random coded block of those that d has.
func recoded(t testing.TB, d *rlnc.Decoder, k, length int, rng *rand.Rand) rlnc.Block {
	t.Helper()
	r := d.Recoder()
	weights := make([]byte, r.Rank())
	rlnc.Draw(weights, rng)
	b := rlnc.Block{Vector: make([]byte, k), Payload: make([]byte, length)}
	if err := r.Vector(b.Vector, weights); err != nil {
		t.Fatal(err)
	}
	if err := r.Recode(b.Payload, weights, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

func add(t testing.TB, d *rlnc.Decoder, b rlnc.Block) bool {
	t.Helper()
	innovative, err := d.Add(b)
	if err != nil {
		t.Fatal(err)
	}
	return innovative
}

// decode gets the blocks, as long as the given ones are.
func decode(t testing.TB, d *rlnc.Decoder, like [][]byte) [][]byte {
	t.Helper()
	s, err := d.Solution()
	if err != nil {
		t.Fatal(err)
	}
	got := make([][]byte, len(like))
	for i := range got {
		got[i] = bytes.Repeat([]byte{0xee}, len(like[i]))
	}
	if err := s.Decode(got, 0); err != nil {
		t.Fatal(err)
	}
	return got
}

func same(t testing.TB, got, want [][]byte) {
	t.Helper()
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("block %d of %d is wrong", i, len(want))
		}
	}
}
