package rlnc

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSome decodes the blocks that are wanted and no others, from coded blocks and source
// blocks that arrived as they are.
func TestSome(t *testing.T) {
	const k, length = 20, 3000
	rng := rand.New(rand.NewPCG(8, 9))
	blocks := generation(rng, k, length, length)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	for _, i := range []int{0, 7, 19} {
		b := Block{Vector: make([]byte, k), Payload: blocks[i]}
		b.Vector[i] = 1
		if !add(t, d, b) {
			t.Fatalf("source block %d is not innovative", i)
		}
	}
	for !d.Full() {
		add(t, d, coded(t, e, rng))
	}
	s, err := d.Solution()
	if err != nil {
		t.Fatal(err)
	}
	got := make([][]byte, k)
	for _, i := range []int{3, 7, 8} {
		got[i] = make([]byte, length)
	}
	if err := s.Decode(got); err != nil {
		t.Fatal(err)
	}
	for i, b := range got {
		if b != nil && !bytes.Equal(b, blocks[i]) {
			t.Errorf("block %d is wrong", i)
		}
	}
}

// TestFull gives a decoder more than it needs.
func TestFull(t *testing.T) {
	const k, length = 4, 100
	rng := rand.New(rand.NewPCG(10, 11))
	blocks := generation(rng, k, length, length)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	var kept [][]byte
	for !d.Full() {
		b := coded(t, e, rng)
		if add(t, d, b) {
			kept = append(kept, b.Payload)
		}
		if again := add(t, d, b); again {
			t.Fatal("the same block is innovative twice")
		}
	}
	if add(t, d, coded(t, e, rng)) || d.Rank() != k {
		t.Errorf("a full decoder finds a block innovative, rank %d", d.Rank())
	}
	for i, payload := range kept {
		if b := d.Block(i); &b.Payload[0] != &payload[0] {
			t.Errorf("block %d was copied or is in another place", i)
		}
	}
	same(t, decode(t, d, blocks), blocks)
}

// FuzzDecoder adds vectors of any kind with their payloads, and compares with the reference
// after each.
func FuzzDecoder(f *testing.F) {
	f.Add(byte(0), []byte{1, 0, 0, 1})
	f.Add(byte(1), []byte{1, 2, 3, 2, 4, 6, 0, 0, 0, 0, 0, 9, 0, 1, 1})
	f.Add(byte(0), []byte{0, 0, 255})
	f.Add(byte(3), bytes.Repeat([]byte{0, 1, 0, 2, 0}, 8))
	ref := newReference()
	f.Fuzz(func(t *testing.T, k byte, stream []byte) {
		k = 2 + k%40
		rng := rand.New(rand.NewPCG(uint64(k), 18))
		blocks := generation(rng, int(k), 70, 3)
		e, d := newEncoder(t, blocks), newDecoder(t, int(k), 70)
		var vectors, payloads [][]byte
		for ; len(stream) >= int(k) && len(vectors) < 48; stream = stream[k:] {
			b := Block{Vector: stream[:k], Payload: make([]byte, 70)}
			if err := e.Encode(b.Payload, b.Vector); err != nil {
				t.Fatal(err)
			}
			vectors, payloads = append(vectors, b.Vector), append(payloads, b.Payload)
			before := d.Rank()
			innovative := add(t, d, b)
			if _, rank := ref.decode(vectors, payloads); d.Rank() != rank || innovative != (rank > before) {
				t.Fatalf("rank %d, want %d; innovative %v", d.Rank(), rank, innovative)
			}
		}
		if d.Full() {
			same(t, decode(t, d, blocks), blocks)
		}
	})
}
