package coded

import (
	"fmt"
	"time"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// CodingOf returns the coding that a link asks for, of the content that m describes, and
// the zero value for plain pieces.
func CodingOf(l *proto.Link, m *proto.Manifest) (proto.Coding, error) {
	if l.Coded == 0 {
		return proto.Coding{}, nil
	}
	if len(m.Hashes) == 0 && m.Pieces() > 0 {
		what, key := "a coded transfer", "x.rlnc"
		if l.Strategy.Gossip() {
			what, key = "permutation gossip", "x.gossip"
		}
		return proto.Coding{}, fmt.Errorf("%s needs the content's manifest, "+
			"and the link has only a torrent's info-hash: use one without %s", what, key)
	}
	c, err := proto.NewCoding(m, l.Coded)
	if err != nil {
		return proto.Coding{}, err
	}
	c.Strategy = l.Strategy
	return c, nil
}

// AutoK makes [ChooseK] choose.
const AutoK = -1

// ChooseK returns the number of source blocks in a generation: k, if there is such a coding.
// For [AutoK] it chooses k by Cooper's rule (section 4): to make a block of k source blocks
// takes as long as to send it. It measures the encoding rate of this machine for some
// milliseconds, and reads the network's rate from Linux.
func ChooseK(m *proto.Manifest, k int) (int, error) {
	if k == AutoK {
		return nearestK(m, encodingRate()/linkRate("/sys/class/net"))
	}
	_, err := proto.NewCoding(m, k)
	return k, err
}

// The bounds of a k that is chosen.
const (
	minChosen = 8
	maxChosen = 64
)

// nearestK returns the valid k nearest to want; of two, the smaller one.
func nearestK(m *proto.Manifest, want float64) (int, error) {
	k := int(min(max(want, minChosen), maxChosen))
	var err error
	for d := range maxChosen {
		for _, try := range []int{k - d, k + d} {
			if try < minChosen || try > maxChosen {
				continue
			}
			_, e := proto.NewCoding(m, try)
			if e == nil {
				return try, nil
			}
			err = e
		}
	}
	return 0, err
}

// encodingRate measures how many bytes of source blocks one core combines per second.
func encodingRate() float64 {
	const k, size, rounds = 16, 64 << 10, 8
	blocks := make([][]byte, k)
	for i := range blocks {
		blocks[i] = make([]byte, size)
	}
	code, err := rlnc.NewEncoder(blocks)
	if err != nil {
		return 0
	}
	dst, v := make([]byte, size), make([]byte, k)
	best := time.Duration(1<<63 - 1)
	for i := range rounds { // the best counts: other processes may use the machine
		rlnc.Named(v, k+i)
		began := time.Now()
		if err := code.Encode(dst, v); err != nil {
			return 0
		}
		best = min(best, max(time.Since(began), 1))
	}
	return k * size / best.Seconds()
}
