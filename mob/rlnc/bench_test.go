package rlnc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/reedsolomon"
)

// yardstick is work to compare with.
type yardstick struct {
	unit  string
	bytes int
	work  func()
}

// compare runs work and yardsticks by turns, some milliseconds each, so that all see the
// same machine. It reports the median rate of work, by the bytes that it reads or makes,
// and its median share of each yardstick's rate.
func compare(b *testing.B, bytes int, work func(), sticks ...yardstick) {
	rate := func(bytes int, work func()) float64 {
		start, n := time.Now(), 0
		for n == 0 || time.Since(start) < 3*time.Millisecond {
			work()
			n++
		}
		return float64(n) * float64(bytes) / time.Since(start).Seconds() / 1e9
	}
	median := func(of []float64) float64 {
		slices.Sort(of)
		return of[len(of)/2]
	}
	var rates []float64
	shares := make([][]float64, len(sticks))
	for b.Loop() {
		r := rate(bytes, work)
		rates = append(rates, r)
		for i, s := range sticks {
			shares[i] = append(shares[i], r/rate(s.bytes, s.work))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(rates), "GB/s")
	for i, s := range sticks {
		b.ReportMetric(median(shares[i]), s.unit)
	}
}

// sizes runs a benchmark for several k and lengths of blocks.
func sizes(b *testing.B, run func(b *testing.B, k, length int)) {
	for _, k := range []int{16, 32, 64} {
		for _, length := range []int{64 << 10, 256 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("k=%d/%dKiB", k, length>>10), func(b *testing.B) { run(b, k, length) })
		}
	}
}

// BenchmarkEncode measures how fast source blocks are read to make one coded block, and
// compares with the library's multiply-add: of 64 KiB onto 64 KiB in the second cache, and
// of the same source blocks, without tiles.
func BenchmarkEncode(b *testing.B) {
	sizes(b, func(b *testing.B, k, length int) {
		rng := rand.New(rand.NewPCG(1, 2))
		blocks := generation(rng, k, length, length)
		e := newEncoder(b, blocks)
		block := coded(b, e, rng)
		var field reedsolomon.LowLevel
		in, out, whole := random(rng, 64<<10), make([]byte, 64<<10), make([]byte, length)
		compare(b, k*length, func() {
			if err := e.Encode(block.Payload, block.Vector); err != nil {
				b.Fatal(err)
			}
		}, yardstick{"of-64KiB", len(in), func() {
			field.GalMulSliceXor(77, in, out)
		}}, yardstick{"of-untiled", k * length, func() {
			for i, in := range blocks {
				field.GalMulSliceXor(block.Vector[i], in, whole)
			}
		}})
	})
}

// BenchmarkDecode measures how fast source blocks are made of k coded blocks, inversion
// included, and compares with the naive loop, which has its coefficients already.
func BenchmarkDecode(b *testing.B) {
	sizes(b, func(b *testing.B, k, length int) {
		rng := rand.New(rand.NewPCG(5, 6))
		blocks := generation(rng, k, length, length)
		e, d := newEncoder(b, blocks), newDecoder(b, k, length)
		for !d.Full() {
			add(b, d, coded(b, e, rng))
		}
		got := generation(rng, k, length, length)
		var field reedsolomon.LowLevel
		compare(b, k*length, func() {
			s, err := d.Solution()
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Decode(got); err != nil {
				b.Fatal(err)
			}
		}, yardstick{"of-naive", k * length, func() {
			for i := range got {
				for j := range k {
					in := d.Block(j)
					if c := in.Vector[i]; j == 0 { // any coefficients cost the same
						field.GalMulSlice(c, in.Payload, got[i])
					} else {
						field.GalMulSliceXor(c, in.Payload, got[i])
					}
				}
			}
		}})
	})
}

// BenchmarkSolution measures the inversion.
func BenchmarkSolution(b *testing.B) {
	for _, k := range []int{16, 32, 64, 255} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(7, 8))
			e, d := newEncoder(b, generation(rng, k, 1, 1)), newDecoder(b, k, 1)
			for !d.Full() {
				add(b, d, coded(b, e, rng))
			}
			for b.Loop() {
				if _, err := d.Solution(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBasis measures what a vector costs a node that has half of the generation: to
// draw one, and to find out whether another is innovative.
func BenchmarkBasis(b *testing.B) {
	for _, k := range []int{16, 32, 64, 200, 255} {
		rng := rand.New(rand.NewPCG(9, 10))
		basis, v := newBasis(b, k), make([]byte, k)
		for basis.Rank() < k/2 {
			draw(v, rng)
			addTo(b, basis, v)
		}
		b.Run(fmt.Sprintf("Combine/k=%d", k), func(b *testing.B) {
			for b.Loop() {
				basis.Combine(v, rng)
			}
		})
		b.Run(fmt.Sprintf("Innovative/k=%d", k), func(b *testing.B) {
			draw(v, rng)
			for b.Loop() {
				if _, err := basis.Innovative(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
