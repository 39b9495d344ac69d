package rlnc

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// shapes of generations: the bounds of k, lengths around those of kernels and tiles, and
// last blocks that are shorter.
var shapes = []struct{ k, length, last int }{
	{1, 1, 1},
	{1, 100, 100},
	{2, 33, 0},
	{2, 64, 1},
	{3, 1000, 999},
	{5, 16<<10 + 1, 5},
	{7, 40_000, 39_000},
	{10, 4096, 4096},
	{11, 5000, 17},
	{16, 70_000, 70_000},
	{16, 70_000, 33_000},
	{32, 20_000, 1},
	{64, 6000, 6000},
	{128, 300, 300},
	{129, 300, 200},
	{250, 300, 300},
	{255, 257, 100},
}

// TestReference compares coded, recoded and decoded blocks with the reference's.
func TestReference(t *testing.T) {
	ref := newReference()
	for _, c := range shapes {
		t.Run(fmt.Sprintf("k=%d,length=%d,last=%d", c.k, c.length, c.last), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.k), uint64(c.length)))
			blocks := generation(rng, c.k, c.length, c.last)
			e, d := newEncoder(t, blocks), newDecoder(t, c.k, c.length)
			var vectors, payloads [][]byte
			for !d.Full() {
				b := coded(t, e, rng)
				if d.Rank() < 2 && !bytes.Equal(b.Payload, ref.encode(blocks, b.Vector)) { // the reference is slow
					t.Fatal("encoded otherwise")
				}
				add(t, d, b)
				r := recoded(t, d, c.k, c.length, rng)
				same(t, [][]byte{r.Payload}, [][]byte{encode(t, e, r.Vector)})
				vectors, payloads = append(vectors, b.Vector), append(payloads, b.Payload)
			}
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

// TestShort encodes with coefficients of which all but one are zero, or all, into a buffer
// that had something else before.
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
		got := random(rng, length)
		if err := e.Encode(got, v); err != nil {
			t.Fatal(err)
		}
		same(t, [][]byte{got}, [][]byte{ref.encode(blocks, v)})
	}
}

// TestThreeHops sends through three nodes in a row, of which each has nothing but what the
// one before recodes, and recodes from the first block on. In Cooper's rounds, each
// receives one block in a round.
func TestThreeHops(t *testing.T) {
	const length = 200
	for _, k := range []int{1, 2, 16, 32, 100} {
		rng := rand.New(rand.NewPCG(uint64(k), 5))
		blocks := generation(rng, k, length, length)
		e := newEncoder(t, blocks)
		var nodes []*Decoder
		for range 4 {
			nodes = append(nodes, newDecoder(t, k, length))
		}
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

// TestConcurrent is for the race detector: goroutines encode, recode and decode while a
// decoder adds blocks.
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
			got, want := make([]byte, length), make([]byte, length)
			weights, v := make([]byte, r.Rank()), make([]byte, k)
			draw(weights, rng)
			if err := errors.Join(r.Vector(v, weights), r.Recode(got, weights), e.Encode(want, v)); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("recoded and encoded blocks with the same coefficients differ")
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
		dst := make([][]byte, k)
		for i := p; i < k; i += parts {
			dst[i] = got[i]
		}
		wg.Go(func() {
			if err := s.Decode(dst); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, got, blocks)
}
