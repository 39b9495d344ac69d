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

// sealAll makes the records of a stream with these segments, and its end.
func sealAll(t *testing.T, key crypto.PrivKey, failure error, manifests ...string) (records [][]byte) {
	t.Helper()
	var c chain
	for _, m := range append(manifests, "") {
		b, err := c.seal(key, []byte(m), failure)
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
		"one left out":      {[][]byte{good[0], good[2]}, "record 2 came in place of 1"},
		"one again":         {[][]byte{good[0], good[1], good[0]}, "record 0 came again"},
		"the end first":     {[][]byte{good[3]}, "too late"},
		"of another stream": {[][]byte{good[0], other[1]}, "record 1 is of another stream"},
		"end of another":    {[][]byte{good[0], good[1], good[2], other[3]}, "record 3 is of another stream"},
		"another key":       {[][]byte{forged[0]}, "another key"},
		"another key later": {[][]byte{good[0], forged[1]}, "another key"},
		"after the end":     {append(good[:4:4], sealAll(t, key, nil, "a", "b", "c", "d")[4]), "after the end"},
		"nothing":           {[][]byte{nil}, "false record"},
		"too large":         {[][]byte{make([]byte, maxRecord+1)}, "at most"},
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
	b := sealAll(t, key, nil, "manifest")[0]
	for i := range b {
		flipped := append([]byte{}, b...)
		flipped[i] ^= 1
		var c chain
		if r, err := c.open(key.GetPublic(), flipped); err == nil && string(r.Manifest) != "manifest" {
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
