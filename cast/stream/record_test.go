package stream

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
)

func newKey(t *testing.T) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sealAll makes the records of a stream of these words, and its end.
func sealAll(t *testing.T, key crypto.PrivKey, failure error, words ...string) (records [][]byte) {
	t.Helper()
	var c chain
	var all []*record
	for _, word := range words {
		all = append(all, &record{Rest: []byte(word)})
	}
	for _, r := range append(all, end(failure)) {
		b, err := c.seal(key, r)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, b)
	}
	return records
}

// TestChain checks which records follow which.
func TestChain(t *testing.T) {
	t.Parallel()
	key, foreign := newKey(t), newKey(t)
	good := sealAll(t, key, nil, "a", "b", "c")
	other := sealAll(t, key, nil, "x", "b", "c")
	forged := sealAll(t, foreign, nil, "a", "b", "c")
	for name, c := range map[string]struct {
		records [][]byte
		want    string // empty if all are right
	}{
		"all":               {good, ""},
		"one left out":      {[][]byte{good[0], good[2]}, "record 2 instead of 1"},
		"one again":         {[][]byte{good[0], good[1], good[0]}, "duplicate record 0"},
		"the end first":     {[][]byte{good[3]}, "too late"},
		"of another stream": {[][]byte{good[0], other[1]}, "record 1 is of another stream"},
		"end of another":    {[][]byte{good[0], good[1], good[2], other[3]}, "record 3 is of another stream"},
		"another key":       {[][]byte{forged[0]}, "another key"},
		"another key later": {[][]byte{good[0], forged[1]}, "another key"},
		"after the end":     {append(good[:4:4], sealAll(t, key, nil, "a", "b", "c", "d")[4]), "after the end"},
		"nothing":           {[][]byte{nil}, "forged record"},
		"too large":         {[][]byte{make([]byte, maxRecord+1)}, "more than"},
	} {
		var v chain
		var err error
		for i, b := range c.records {
			if err != nil {
				t.Fatalf("%s: record %d: %v", name, i-1, err)
			}
			_, err = v.open(key.GetPublic(), b)
		}
		if c.want == "" && (err != nil || !v.ended) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestFlippedBytes changes each byte of a record.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	b := sealAll(t, key, nil, "word")[0]
	for i := range b {
		flipped := append([]byte{}, b...)
		flipped[i] ^= 1
		var c chain
		if r, err := c.open(key.GetPublic(), flipped); err == nil && string(r.Rest) != "word" {
			t.Errorf("byte %d: accepted as %+v", i, r)
		}
	}
}

// TestLongError checks that the text of an error fits its record.
func TestLongError(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	b := sealAll(t, key, errors.New(strings.Repeat("ä", maxText)+"\xff"))[0]
	var c chain
	r, err := c.open(key.GetPublic(), b)
	if err != nil || len(r.Error) == 0 || len(r.Error) > maxText {
		t.Errorf("%d bytes: %v", len(r.Error), err)
	}
}

// TestInvalidRecords checks what a record may have, whoever signed it.
func TestInvalidRecords(t *testing.T) {
	t.Parallel()
	key, sum := newKey(t), make([]byte, 32)
	for name, c := range map[string]struct {
		record *record
		right  bool
	}{
		"a piece":              {&record{Sums: sum, Last: 1}, true},
		"two pieces":           {&record{Sums: append(sum, sum...), Last: pieceSize}, true},
		"pieces and a rest":    {&record{Sums: append(sum, sum...), Last: pieceSize, Rest: []byte("rest")}, false},
		"a rest":               {&record{Rest: make([]byte, maxRest)}, true},
		"an end":               {&record{End: true}, true},
		"half a hash":          {&record{Sums: sum[:16], Last: 1}, false},
		"too many pieces":      {&record{Sums: make([]byte, 32*(maxPieces+1)), Last: 1}, false},
		"an empty piece":       {&record{Sums: sum}, false},
		"a long piece":         {&record{Sums: sum, Last: pieceSize + 1}, false},
		"a long rest":          {&record{Rest: make([]byte, maxRest+1)}, false},
		"nothing":              {&record{}, false},
		"an end with a piece":  {&record{Sums: sum, Last: 1, End: true}, false},
		"an end with the rest": {&record{Rest: []byte("rest"), End: true}, false},
	} {
		var from, to chain
		b, err := from.seal(key, c.record)
		if err == nil {
			_, err = to.open(key.GetPublic(), b)
		}
		if (err == nil) != c.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}
