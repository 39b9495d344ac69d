package rlnc

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRefused wants errors for vectors, weights and payloads of the wrong length.
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
	_, early := fresh.Solution()
	v := []byte{1, 2, 3}
	buffer := make([]byte, length+1)
	whole := buffer[:length]
	addErr := func(d *Decoder, v, payload []byte) error {
		innovative, err := d.Add(Block{Vector: v, Payload: payload})
		if innovative {
			t.Errorf("%x with %d bytes is innovative", v, len(payload))
		}
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		want string // in the error; empty for none
	}{
		{"encode with few coefficients", e.Encode(whole, v[:2]), "coefficients"},
		{"encode with many", e.Encode(whole, append(v, 4)), "coefficients"},
		{"encode too much", e.Encode(buffer, v), "bytes"},
		{"encode nothing", e.Encode(nil, v), ""},
		{"recode with few weights", r.Recode(whole, v[:2]), "coefficients"},
		{"recode too much", r.Recode(buffer, v), "bytes"},
		{"recode of nothing", none.Recode(whole, nil), ""},
		{"recode with weights for nothing", none.Recode(whole, v), "coefficients"},
		{"a vector with few weights", r.Vector(make([]byte, k), v[:2]), "coefficients"},
		{"a vector too long", r.Vector(make([]byte, k+1), v), "bytes"},
		{"add a short vector", addErr(fresh, v[:2], whole), "coefficients"},
		{"add a long vector", addErr(fresh, append(v, 1), whole), "coefficients"},
		{"add a short payload", addErr(fresh, v, whole[1:]), "bytes"},
		{"add a long payload", addErr(fresh, v, buffer), "bytes"},
		{"add zeros", addErr(fresh, make([]byte, k), whole), ""},
		{"add to a full one", addErr(d, v, whole), ""},
		{"add a short vector to a full one", addErr(d, v[:2], whole), "coefficients"},
		{"a solution of nothing", early, "innovative"},
		{"decode fewer", s.Decode(make([][]byte, k-1)), "blocks"},
		{"decode none", s.Decode(make([][]byte, k)), ""},
		{"decode too much", s.Decode([][]byte{nil, nil, buffer}), "bytes"},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
	if _, err := NewDecoder(3, 0); err == nil {
		t.Error("a decoder for empty blocks")
	}
	if _, err := NewEncoder([][]byte{{}, nil}); err == nil {
		t.Error("an encoder for empty blocks")
	}
}
