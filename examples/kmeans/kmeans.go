package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer"
)

// state is the same at all workers: k centroids of d numbers.
type state struct {
	iteration int
	d         int
	centroids []float64
}

// sums returns for each centroid the sum of the points that are nearest to it, and their number: k rows of d+1 numbers.
func (s *state) sums(points []float64) []float64 {
	d := s.d
	all := make([]float64, len(s.centroids)/d*(d+1))
	for ; len(points) > 0; points = points[d:] {
		nearest, least := 0, math.Inf(1)
		for i := range len(s.centroids) / d {
			distance := 0.0
			for j, x := range s.centroids[i*d : (i+1)*d] {
				distance += (points[j] - x) * (points[j] - x)
			}
			if distance < least {
				nearest, least = i, distance
			}
		}
		row := all[nearest*(d+1):]
		for j, x := range points[:d] {
			row[j] += x
		}
		row[d]++
	}
	return all
}

// advance replaces the centroids by the means of all points. A centroid without points stays.
func (s *state) advance(sums []float64) {
	s.iteration++
	for i := range s.centroids {
		row, j := sums[i/s.d*(s.d+1):], i%s.d
		if row[s.d] > 0 {
			s.centroids[i] = row[j] / row[s.d]
		}
	}
}

func encode(numbers []float64) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, numbers) // fails only for types without a fixed size
	return b
}

func decode(b []byte) []float64 {
	numbers := make([]float64, len(b)/8)
	_, _ = binary.Decode(b, binary.LittleEndian, numbers) // has their size
	return numbers
}

// newest merges states: the workers that have lost one may be an iteration apart.
//
//nolint:gochecknoglobals // constant
var newest = collective.Op{Merge: func(a, b []byte) ([]byte, error) {
	if len(a) != len(b) {
		return nil, errors.New("workers have other numbers of centroids (-k), or of numbers of a point (-d)")
	}
	if decode(b[:8])[0] > decode(a[:8])[0] {
		a = append(a[:0], b...)
	}
	return a, nil
}}

// distinct merges the numbers of workers with each part. They are to have a part each.
//
//nolint:gochecknoglobals // constant
var distinct = collective.Op{Merge: func(a, b []byte) ([]byte, error) {
	merged, err := collective.SumFloat64.Merge(a, b)
	if err != nil {
		return a, err
	}
	if part := slices.IndexFunc(decode(merged), func(n float64) bool { return n > 1 }); part >= 0 {
		return a, fmt.Errorf("several workers have part %d: give each another -part", part)
	}
	return merged, nil
}}

// worker has some of the points in memory.
type worker struct {
	state
	node          *peer.Node
	name          string        // of the group
	size          int           // number of workers
	part, parts   int           // number of its part of the points, and number of parts
	rejoin        time.Duration // bounds the time in which the remaining workers join again
	points        []float64
	sum           collective.Op
	write         func([]float64) error // called by rank 0 after the last iteration, or by all workers without it
	communication time.Duration
	before        func() // called before each iteration in tests, and after the last one
}

// run iterates. After the loss of a worker the remaining ones continue from the last centroids, without its points. All have
// done the last iteration before one leaves, so that a worker which has lost another one in it finds the remaining ones.
func (w *worker) run(ctx context.Context, iterations int) error {
	joining, cancel := context.WithCancel(ctx) // the first time, as long as it takes
	for name := w.name; ; name = fmt.Sprintf("%s of %d", w.name, w.size) {
		c, err := collective.Join(joining, w.node, name, w.size)
		cancel()
		if err != nil && w.iteration == iterations {
			return w.write(w.centroids) // rank 0 has done that and left, or it is lost
		} else if err != nil {
			return err
		}
		err = w.iterate(ctx, c, iterations)
		c.Close()
		var lost collective.ErrMember
		if !errors.As(err, &lost) {
			return err
		}
		fmt.Fprintf(os.Stderr, "rank %d of %d, iteration %d: %v\n", c.Rank(), w.size, w.iteration, err)
		w.size--
		joining, cancel = context.WithTimeout(ctx, w.rejoin)
	}
}

func (w *worker) iterate(ctx context.Context, c *collective.Comm, iterations int) error {
	parts := make([]float64, w.parts)
	parts[w.part] = 1
	if _, err := c.AllReduce(ctx, encode(parts), distinct); err != nil {
		return err
	}
	last, err := c.AllReduce(ctx, encode(append([]float64{float64(w.iteration)}, w.centroids...)), newest)
	if err != nil {
		return err
	}
	w.centroids = decode(last)
	w.iteration, w.centroids = int(w.centroids[0]), w.centroids[1:]
	for {
		if w.before != nil {
			w.before()
		}
		if w.iteration == iterations {
			break
		}
		local := encode(w.sums(w.points))
		start := time.Now()
		sums, err := c.AllReduce(ctx, local, w.sum)
		if err != nil {
			return err
		}
		w.communication += time.Since(start)
		w.advance(decode(sums))
	}
	if c.Rank() == 0 {
		if err := w.write(w.centroids); err != nil {
			return err
		}
	}
	_, err = c.AllReduce(ctx, nil, newest)
	return err
}
