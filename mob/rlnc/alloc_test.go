package rlnc

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestAllocations wants none for a block.
func TestAllocations(t *testing.T) {
	const k, length = 32, 64 << 10
	rng := rand.New(rand.NewPCG(1, 2))
	e, d := newEncoder(t, generation(rng, k, length, length)), newDecoder(t, k, length)
	for d.Rank() < k/2 {
		add(t, d, coded(t, e, rng))
	}
	weights, v, dst := make([]byte, k/2), make([]byte, k), make([]byte, length)
	b := coded(t, e, rng)
	basis := newBasis(t, 255)
	long := make([]byte, 255)
	for name, step := range map[string]func() error{
		"named":  func() error { Named(v, 1000); return nil },
		"encode": func() error { return e.Encode(dst, b.Vector) },
		"recode": func() error {
			r := d.Recoder()
			draw(weights, rng)
			if err := r.Vector(v, weights); err != nil {
				return err
			}
			return r.Recode(dst, weights)
		},
		"innovative": func() error { _, err := d.Innovative(b.Vector); return err },
		"add":        func() error { _, err := d.Add(d.Block(3)); return err },
		"add to a basis": func() error {
			draw(long, rng)
			_, err := basis.Add(long)
			return err
		},
		"combine": func() error { basis.Combine(long, rng); return nil },
	} {
		if n := testing.AllocsPerRun(50, func() {
			if err := step(); err != nil {
				t.Error(name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if n := testing.AllocsPerRun(k/2-1, func() { // the first calls that are innovative
		draw(b.Vector, rng)
		add(t, d, b)
	}); n != 0 || d.Rank() < k-1 {
		t.Errorf("innovative blocks: %v allocations, rank %d", n, d.Rank())
	}
}

// TestDecodeAllocations wants little for a generation: less than a sixteenth of a block's
// length for each block. (It is a tenth of that, but the race detector has the library's
// pools forget things.)
func TestDecodeAllocations(t *testing.T) {
	const k, length = 16, 1 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	blocks := generation(rng, k, length, length)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	for !d.Full() {
		add(t, d, coded(t, e, rng))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := d.Solution()
	if err == nil {
		err = s.Decode(blocks)
	}
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > k*length/16 {
		t.Errorf("%d bytes allocated to decode %d blocks of %d", n, k, length)
	}
}
