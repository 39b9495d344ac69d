package rlnc_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/mobgrid/mob/mob/rlnc"
)

// shapes of generations: the bounds of k, lengths around those of kernels and
// tiles, and last blocks that are shorter.
var shapes = []struct{ k, length, last int }{
	{1, 1, 1}, {1, 100, 100}, {2, 33, 0}, {2, 64, 1}, {3, 1000, 999}, {5, 16<<10 + 1, 5}, {7, 40_000, 39_000}, {10, 4096, 4096},
	{11, 5000, 17}, {16, 70_000, 70_000}, {16, 70_000, 33_000}, {32, 20_000, 1}, {64, 6000, 6000}, {128, 300, 300}, {129, 300, 200}, {250, 300, 300}, {255, 257, 100},
}

// TestReference compares every part with the schoolbook's.
func TestReference(t *testing.T) {
	ref := newReference()
	for _, c := range shapes {
		t.Run(fmt.Sprintf("k=%d,length=%d,last=%d", c.k, c.length, c.last), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.k), uint64(c.length)))
			blocks := generation(rng, c.k, c.length, c.last)
			e, d := newEncoder(t, blocks), newDecoder(t, c.k, c.length)
			var vectors, payloads, many [][]byte
			for !d.Full() {
				b := coded(t, e, rng)
				if d.Rank() < 2 && !bytes.Equal(b.Payload, ref.encode(blocks, b.Vector)) { // the reference is slow
					t.Fatal("encoded otherwise")
				}
				if made, err := e.Made(b.Payload, b.Vector); !made || err != nil {
					t.Fatalf("made %v, %v", made, err)
				}
				add(t, d, b)
				vectors, payloads, many = append(vectors, b.Vector), append(payloads, b.Payload), append(many, make([]byte, c.length))
			}
			if err := e.EncodeAll(many, vectors, 0); err != nil {
				t.Fatal(err)
			}
			same(t, many, payloads)
			compareRecoded(t, d, rng)
			if c.k*c.k*c.length < 3e6 {
				want, _ := ref.decode(vectors, payloads)
				for i := range blocks {
					want[i] = want[i][:len(blocks[i])]
				}
				same(t, want, blocks)
			}
			same(t, decode(t, d, blocks), blocks)
		})
	}
}

// TestShort encodes with coefficients of which all but one are zero, or all, into
// buffers that had something else before.
func TestShort(t *testing.T) {
	const length = 40_000
	ref, rng := newReference(), rand.New(rand.NewPCG(19, 20))
	blocks := [][]byte{random(rng, length), random(rng, 0), random(rng, 1), random(rng, 20_000), random(rng, length-1)}
	e := newEncoder(t, blocks)
	for i := range len(blocks) + 1 {
		v := make([]byte, len(blocks))
		if i < len(blocks) {
			v[i] = byte(1 + i)
		}
		want := [][]byte{ref.encode(blocks, v), ref.encode(blocks, v)}
		got := [][]byte{random(rng, length), random(rng, length)}
		if err := e.Encode(got[0], v, 0); err != nil {
			t.Fatal(err)
		}
		if err := e.EncodeAll(got[1:], [][]byte{v}, 0); err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
}

// compareRecoded recodes three blocks one by one and at once.
func compareRecoded(t *testing.T, d *rlnc.Decoder, rng *rand.Rand) {
	t.Helper()
	r, length := d.Recoder(), len(d.Block(0).Payload)
	var one, all, weights [][]byte
	for range 3 {
		w := make([]byte, r.Rank())
		rlnc.Draw(w, rng)
		one, all, weights = append(one, make([]byte, length)), append(all, make([]byte, length)), append(weights, w)
		if err := r.Recode(one[len(one)-1], w, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.RecodeAll(all, weights, 0); err != nil {
		t.Fatal(err)
	}
	same(t, all, one)
}

// TestThreeHops sends through three nodes in a row, of which each has nothing but
// what the one before recodes, and recodes from the first block on. Cooper's rounds:
// one block to each in a round.
func TestThreeHops(t *testing.T) {
	const length = 200
	for _, k := range []int{1, 2, 16, 32, 100} {
		rng := rand.New(rand.NewPCG(uint64(k), 5))
		blocks := generation(rng, k, length, length)
		e := newEncoder(t, blocks)
		nodes := []*rlnc.Decoder{newDecoder(t, k, length), newDecoder(t, k, length), newDecoder(t, k, length), newDecoder(t, k, length)}
		last, rounds := nodes[len(nodes)-1], 0
		for ; !last.Full(); rounds++ {
			if rounds > k+10 {
				t.Fatalf("k = %d: rank %d after %d rounds", k, last.Rank(), rounds)
			}
			for i := len(nodes) - 1; i > 0; i-- {
				if from := nodes[i-1]; from.Rank() > 0 {
					add(t, nodes[i], recoded(t, from, k, length, rng))
				}
			}
			add(t, nodes[0], coded(t, e, rng))
		}
		same(t, decode(t, last, blocks), blocks)
	}
}

// TestParts makes, remakes and decodes blocks in parts, of odd places and lengths.
func TestParts(t *testing.T) {
	const k, length = 12, 50_000
	rng := rand.New(rand.NewPCG(6, 7))
	blocks := generation(rng, k, length, 30_001)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	cuts := []int{0, 1, 64, 10_000, 30_000, 30_002, 30_003, length}
	for !d.Full() {
		whole := coded(t, e, rng)
		parts := make([]byte, length)
		for i := range cuts[1:] {
			if err := e.Encode(parts[cuts[i]:cuts[i+1]], whole.Vector, cuts[i]); err != nil {
				t.Fatal(err)
			}
		}
		same(t, [][]byte{parts}, [][]byte{whole.Payload})
		add(t, d, whole)
	}
	s, err := d.Solution()
	if err != nil {
		t.Fatal(err)
	}
	got := generation(rng, k, length, 30_001)
	for i := range cuts[1:] {
		dst := make([][]byte, k)
		for j := range dst {
			dst[j] = got[j][min(cuts[i], len(got[j])):min(cuts[i+1], len(got[j]))]
		}
		if err := s.Decode(dst, cuts[i]); err != nil {
			t.Fatal(err)
		}
	}
	same(t, got, blocks)
}

// TestConcurrent is for the race detector: several make, remake and decode at
// once while a decoder takes blocks.
func TestConcurrent(t *testing.T) {
	const k, length = 16, 40_000
	rng := rand.New(rand.NewPCG(14, 15))
	blocks := generation(rng, k, length, length)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	var wg sync.WaitGroup
	for seed := uint64(0); !d.Full(); seed++ {
		add(t, d, coded(t, e, rng))
		r := d.Recoder()
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 0))
			own, weights, v := make([]byte, length), make([]byte, r.Rank()), make([]byte, k)
			rlnc.Draw(weights, rng)
			if err := errors.Join(r.Vector(v, weights), r.Recode(own, weights, 0)); err != nil {
				t.Error(err)
			}
			if made, err := e.Made(own, v); !made || err != nil {
				t.Errorf("recoded: made %v, %v", made, err)
			}
		})
	}
	wg.Wait()
	s, err := d.Solution()
	if err != nil {
		t.Fatal(err)
	}
	got := generation(rng, k, length, length)
	const parts = 4
	for p := range parts {
		from := p * length / parts
		dst := make([][]byte, k)
		for i := range dst {
			dst[i] = got[i][from : from+length/parts]
		}
		wg.Go(func() {
			if err := s.Decode(dst, from); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, got, blocks)
}
