package rlnc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
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

// TestSome decodes the blocks that are wanted and no others, from coded blocks and
// source blocks that came as they are.
func TestSome(t *testing.T) {
	const k, length = 20, 3000
	rng := rand.New(rand.NewPCG(8, 9))
	blocks := generation(rng, k, length, length)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	for _, i := range []int{0, 7, 19} {
		b := rlnc.Block{Vector: make([]byte, k), Payload: blocks[i]}
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
	if err := s.Decode(got, 0); err != nil {
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
	if _, err := d.Solution(); !errors.Is(err, rlnc.ErrRank) {
		t.Errorf("a solution of nothing: %v", err)
	}
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
		t.Errorf("a complete generation takes more, rank %d", d.Rank())
	}
	for i, payload := range kept {
		if b := d.Block(i); &b.Payload[0] != &payload[0] {
			t.Errorf("block %d was copied or has another's place", i)
		}
	}
	same(t, decode(t, d, blocks), blocks)
}

// TestPolluted finds the coded block that is false, once the source blocks are
// known.
func TestPolluted(t *testing.T) {
	const k, length, liar = 8, 10_000, 5
	rng := rand.New(rand.NewPCG(12, 13))
	blocks := generation(rng, k, length, length-1)
	e, d := newEncoder(t, blocks), newDecoder(t, k, length)
	for !d.Full() {
		b := coded(t, e, rng)
		if d.Rank() == liar {
			b.Payload[length-1] ^= 1
		}
		add(t, d, b)
	}
	if got := decode(t, d, generation(rng, k, length, length)); bytes.Equal(bytes.Join(got, nil), bytes.Join(blocks, []byte{0})) {
		t.Fatal("a false block changes nothing")
	}
	for i := range k {
		b := d.Block(i)
		if made, err := e.Made(b.Payload, b.Vector); made != (i != liar) || err != nil {
			t.Errorf("block %d: made %v, %v", i, made, err)
		}
	}
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

// TestRefused is what a peer, or a mistake, may ask for.
func TestRefused(t *testing.T) {
	const k, length = 3, 10
	rng := rand.New(rand.NewPCG(16, 17))
	e, d := newEncoder(t, generation(rng, k, length, length-3)), newDecoder(t, k, length)
	for !d.Full() {
		add(t, d, coded(t, e, rng))
	}
	s, err := d.Solution()
	if err != nil {
		t.Fatal(err)
	}
	r := d.Recoder()
	fresh := newDecoder(t, k, length)
	none := fresh.Recoder()
	v := []byte{1, 2, 3}
	buffer := make([]byte, length+1)
	whole := buffer[:length]
	addErr := func(d *rlnc.Decoder, v, payload []byte) error {
		innovative, err := d.Add(rlnc.Block{Vector: v, Payload: payload})
		if innovative {
			t.Errorf("%x with %d bytes is innovative", v, len(payload))
		}
		return err
	}
	made := func(payload, v []byte) error { _, err := e.Made(payload, v); return err }
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"encode with few coefficients", e.Encode(whole, v[:2], 0), rlnc.ErrCoefficients},
		{"encode with many", e.Encode(whole, append(v, 4), 0), rlnc.ErrCoefficients},
		{"encode too much", e.Encode(buffer, v, 0), rlnc.ErrLength},
		{"encode behind the end", e.Encode(buffer[:1], v, length), rlnc.ErrLength},
		{"encode far behind the end", e.Encode(nil, v, 1<<62), rlnc.ErrLength},
		{"encode before the beginning", e.Encode(buffer[:1], v, -1), rlnc.ErrLength},
		{"encode all with a vector too few", e.EncodeAll([][]byte{whole, whole}, [][]byte{v}, 0), rlnc.ErrCoefficients},
		{"encode all with a short vector", e.EncodeAll([][]byte{whole}, [][]byte{v[:1]}, 0), rlnc.ErrCoefficients},
		{"encode all too long", e.EncodeAll([][]byte{buffer}, [][]byte{v}, 0), rlnc.ErrLength},
		{"made, short", made(whole[1:], v), rlnc.ErrLength},
		{"made, few coefficients", made(whole, v[1:]), rlnc.ErrCoefficients},
		{"recode with few weights", r.Recode(whole, v[:2], 0), rlnc.ErrCoefficients},
		{"recode too much", r.Recode(buffer, v, 0), rlnc.ErrLength},
		{"recode all behind the end", r.RecodeAll([][]byte{whole}, [][]byte{v}, 1), rlnc.ErrLength},
		{"recode nothing", none.Recode(whole, nil, 0), nil},
		{"recode all of nothing", none.RecodeAll([][]byte{whole, whole}, [][]byte{nil, {}}, 0), nil},
		{"recode with weights for nothing", none.Recode(whole, v, 0), rlnc.ErrCoefficients},
		{"a vector with few weights", r.Vector(make([]byte, k), v[:2]), rlnc.ErrCoefficients},
		{"a vector too long", r.Vector(make([]byte, k+1), v), rlnc.ErrLength},
		{"add a short vector", addErr(fresh, v[:2], whole), rlnc.ErrCoefficients},
		{"add a long vector", addErr(fresh, append(v, 1), whole), rlnc.ErrCoefficients},
		{"add a short payload", addErr(fresh, v, whole[1:]), rlnc.ErrLength},
		{"add a long payload", addErr(fresh, v, buffer), rlnc.ErrLength},
		{"add zeros", addErr(fresh, make([]byte, k), whole), nil},
		{"add to a complete one", addErr(d, v, whole), nil},
		{"add a short vector to a complete one", addErr(d, v[:2], whole), rlnc.ErrCoefficients},
		{"decode fewer", s.Decode(make([][]byte, k-1), 0), rlnc.ErrLength},
		{"decode none", s.Decode(make([][]byte, k), 0), nil},
		{"decode too much", s.Decode([][]byte{nil, nil, buffer}, 0), rlnc.ErrLength},
		{"decode before the beginning", s.Decode([][]byte{nil, nil, buffer[:1]}, -1), rlnc.ErrLength},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if _, err := rlnc.NewDecoder(3, 0); !errors.Is(err, rlnc.ErrLength) {
		t.Errorf("a decoder for empty blocks: %v", err)
	}
	if _, err := rlnc.NewEncoder([][]byte{{}, nil}); err == nil {
		t.Error("an encoder for empty blocks")
	}
}

// FuzzDecoder feeds vectors of any kind, with payloads that are true, and compares
// with the reference after each.
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
			b := rlnc.Block{Vector: stream[:k], Payload: make([]byte, 70)}
			if err := e.Encode(b.Payload, b.Vector, 0); err != nil {
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
