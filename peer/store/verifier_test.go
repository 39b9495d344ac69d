package store_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// verify passes pieces to v, each in two parts, and reports whether all are good.
func verify(v *store.Verifier, c storetest.Content, pieces ...int) (good bool) {
	good = true
	for _, i := range pieces {
		h, b := v.NewHash(), c.Piece(i)
		h.Write(b[:len(b)/3])
		h.Write(b[len(b)/3:])
		good = v.Verify(i, h) && good
	}
	return good
}

func TestVerifierSHA1(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	if !verify(v, c, 2, 10, 0) {
		t.Error("good pieces are not good")
	}
	bad := storetest.Content{Manifest: c.Manifest, Data: bytes.Repeat([]byte{1}, len(c.Data))}
	if verify(v, bad, 5) {
		t.Error("a bad piece is good")
	}
}

func TestVerifierSHA256(t *testing.T) {
	c := single(t)
	v := store.NewVerifier(c.Manifest)
	bad := storetest.Content{Manifest: c.Manifest, Data: make([]byte, len(c.Data))}
	if !verify(v, c, 0) || verify(v, bad, 0) {
		t.Error("a good piece is bad, or a bad one good")
	}
}

func TestVerifierConcurrently(t *testing.T) {
	c := torrent(t)
	v := store.NewVerifier(c.Manifest)
	var group sync.WaitGroup
	for i := range 3 * c.Manifest.Pieces() {
		group.Go(func() {
			if !verify(v, c, i%c.Manifest.Pieces()) {
				t.Errorf("piece %d is bad", i)
			}
		})
	}
	group.Wait()
}
