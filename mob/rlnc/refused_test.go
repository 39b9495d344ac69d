package rlnc_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/mobgrid/mob/mob/rlnc"
)

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
