package rlnc

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n+7)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	return b[:n:n]
}

// generation makes k random blocks of the given length, the last of them of another.
func generation(rng *rand.Rand, k, length, last int) [][]byte {
	blocks := make([][]byte, k)
	for i := range blocks {
		blocks[i] = random(rng, length)
	}
	blocks[k-1] = random(rng, last)
	return blocks
}

func newEncoder(t testing.TB, blocks [][]byte) *Encoder {
	t.Helper()
	e, err := NewEncoder(blocks)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newDecoder(t testing.TB, k, length int) *Decoder {
	t.Helper()
	d, err := NewDecoder(k, length)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// encode makes the payload of the coded block with the coefficients v.
func encode(t testing.TB, e *Encoder, v []byte) []byte {
	t.Helper()
	payload := make([]byte, e.src.length)
	if err := e.Encode(payload, v); err != nil {
		t.Fatal(err)
	}
	return payload
}

// coded makes a random coded block.
func coded(t testing.TB, e *Encoder, rng *rand.Rand) Block {
	t.Helper()
	v := make([]byte, len(e.src.blocks))
	draw(v, rng)
	return Block{v, encode(t, e, v)}
}

// recoded makes a random coded block of those that d has.
func recoded(t testing.TB, d *Decoder, k, length int, rng *rand.Rand) Block {
	t.Helper()
	r := d.Recoder()
	weights := make([]byte, r.Rank())
	draw(weights, rng)
	b := Block{Vector: make([]byte, k), Payload: make([]byte, length)}
	if err := r.Vector(b.Vector, weights); err != nil {
		t.Fatal(err)
	}
	if err := r.Recode(b.Payload, weights); err != nil {
		t.Fatal(err)
	}
	return b
}

func add(t testing.TB, d *Decoder, b Block) bool {
	t.Helper()
	innovative, err := d.Add(b)
	if err != nil {
		t.Fatal(err)
	}
	return innovative
}

// decode returns the source blocks, as long as the given ones are.
func decode(t testing.TB, d *Decoder, like [][]byte) [][]byte {
	t.Helper()
	s, err := d.Solution()
	if err != nil {
		t.Fatal(err)
	}
	got := make([][]byte, len(like))
	for i := range got {
		got[i] = bytes.Repeat([]byte{0xee}, len(like[i]))
	}
	if err := s.Decode(got); err != nil {
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
