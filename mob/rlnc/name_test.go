package rlnc

import (
	"bytes"
	"testing"
)

func TestNamed(t *testing.T) {
	v, want := []byte{9, 9, 9, 9}, make([]byte, 4)
	Named(v, 2)
	if !bytes.Equal(v, []byte{0, 0, 1, 0}) {
		t.Errorf("a source block has %v", v)
	}
	Named(v, 4)
	if (Coefficients{Seed: 4}).Expand(want); !bytes.Equal(v, want) {
		t.Errorf("a coded block has %v, want %v", v, want)
	}
	b, err := NewBasis(4)
	if err != nil {
		t.Fatal(err)
	}
	for name := 2; name < 6; name++ {
		if Named(v, name); !b.Full() {
			_, _ = b.Add(v)
		}
	}
	if b.Rank() != 4 {
		t.Errorf("blocks 2 to 5 of 4 have rank %d", b.Rank())
	}
}
