package coded

import (
	"time"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// The k that ChooseK takes.
const (
	minChosen = 8
	maxChosen = 64
)

// ChooseK is how many source blocks a generation of a content should have, by
// Cooper's rule (section 4): making a block of k others should take as long as sending it
// at this rate, in bytes per second. It measures for some milliseconds how fast this
// machine makes them. The error says that generations of no such size are whole
// pieces.
func ChooseK(m *proto.Manifest, rate float64) (int, error) {
	return chooseK(m, encodingRate()/rate)
}

// chooseK is the k next to want that fits, the lesser first.
func chooseK(m *proto.Manifest, want float64) (int, error) {
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

// encodingRate is how many bytes of source blocks one core takes in per second.
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
	for i := range rounds { // others may use the machine: the best counts
		rlnc.Named(v, k+i)
		began := time.Now()
		if err := code.Encode(dst, v); err != nil {
			return 0
		}
		best = min(best, max(time.Since(began), 1))
	}
	return k * size / best.Seconds()
}
