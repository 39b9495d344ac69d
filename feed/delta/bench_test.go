package delta

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"testing"
)

// weightsPiece returns a piece of two versions, between which 1 % of values of two bytes differ in the low bits.
func weightsPiece(n int) (before, next []byte) {
	before = make([]byte, n)
	for i := range before {
		before[i] = byte(rand.Uint32())
	}
	next = bytes.Clone(before)
	for range n / 2 / 100 {
		next[rand.IntN(n/2)*2] ^= byte(1 + rand.IntN(15))
	}
	return before, next
}

type onePiece []byte

func (o onePiece) Read(_ int, p []byte) bool { return copy(p, o) == len(p) }

// BenchmarkDelta measures what a publisher and a follower do for a piece of weights, beside a hash of it.
func BenchmarkDelta(b *testing.B) {
	const size = 1 << 20
	before, next := weightsPiece(size)
	var e Encoder
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(size)
		p := make([]byte, size)
		for b.Loop() {
			copy(p, next)
			e.Encode(p, before)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(size)
		var file bytes.Buffer
		err := Start(&file)
		if err == nil {
			err = Add(&file, 0, e.Encode(bytes.Clone(next), before))
		}
		if err != nil {
			b.Fatal(err)
		}
		d, err := New(bytes.NewReader(file.Bytes()), int64(file.Len()), 1, onePiece(before))
		if err != nil {
			b.Fatal(err)
		}
		p := make([]byte, size)
		for b.Loop() {
			if !d.Read(0, p) {
				b.Fatal("not read")
			}
		}
		if !bytes.Equal(p, next) {
			b.Error("another piece")
		}
	})
	b.Run("hash", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			sha256.Sum256(next)
		}
	})
}
