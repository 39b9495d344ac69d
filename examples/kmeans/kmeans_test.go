package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/tracker"
)

const (
	testPoints, testDimensions, testCentroids = 3200, 8, 40
	testIterations                            = 20
)

// alone clusters points in one process, from a state on.
func alone(s state, points []float64, iterations int) []float64 {
	s.centroids = slices.Clone(s.centroids)
	for s.iteration < iterations {
		s.advance(s.sums(points))
	}
	return s.centroids
}

// TestDemo compares the file of 20 iterations of 16 workers, bit by bit.
func TestDemo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	j := job{d: testDimensions, k: testCentroids, iterations: testIterations, out: filepath.Join(t.TempDir(), "centroids")}
	if err := j.demo(ctx); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(j.out), "points"))
	if err != nil {
		t.Fatal(err)
	}
	points := decode(b)
	want := alone(state{d: j.d, centroids: points[:j.d*j.k]}, points, testIterations)
	if got, err := os.ReadFile(j.out); err != nil || !slices.Equal(got, encode(want)) {
		t.Fatal("other centroids than one process", err)
	}
}

// TestWorkerKilled closes the node of a worker midway. The remaining ones continue from the last centroids, and have the centroids
// that one process has with their points.
func TestWorkerKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	introducer, stop, err := startNode("tracker", "/ip4/127.0.0.1/tcp/0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	server := tracker.New(introducer.Host(), tracker.Config{})
	defer server.Close()
	const size, victim, part = 16, 5, testPoints / 16 * testDimensions
	points := randomPoints(testPoints, testDimensions)
	var all []*worker
	for i := range size {
		node, stop, err := startNode(string(rune('A'+i/4)), "/ip4/127.0.0.1/tcp/0", introducer.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		all = append(all, &worker{
			state: state{d: testDimensions, centroids: slices.Clone(points[:testDimensions*testCentroids])},
			node:  node, name: t.Name(), size: size, points: points[i*part : (i+1)*part],
		})
	}
	var killed time.Time
	all[victim].before = func() {
		if all[victim].iteration == testIterations/2 {
			killed = time.Now()
			_ = all[victim].node.Close()
		}
	}
	var last *state // with all points
	all[0].before = func() {
		if all[0].size < size && last == nil {
			last = &state{all[0].iteration, testDimensions, slices.Clone(all[0].centroids)}
		}
	}
	var wg sync.WaitGroup
	for i, w := range all {
		wg.Go(func() {
			if _, err := w.run(ctx, testIterations); i != victim && err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("done %v after one was killed", time.Since(killed))
	if last == nil || last.iteration < testIterations/2 {
		t.Fatalf("they continue from %+v", last)
	}
	want := alone(*last, slices.Delete(slices.Clone(points), victim*part, (victim+1)*part), testIterations)
	for i, w := range all {
		if i != victim && (w.size != size-1 || !slices.Equal(w.centroids, want)) {
			t.Fatalf("worker %d of %d has other centroids", i, w.size)
		}
	}
}

// TestInvalidJob rejects a file with fewer points than centroids, and numbers out of range.
func TestInvalidJob(t *testing.T) {
	points := filepath.Join(t.TempDir(), "points")
	if err := os.WriteFile(points, make([]byte, 32), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, j := range map[string]job{
		"2 points, fewer than 3": {d: 2, k: 3, iterations: 1, size: 1},
		"at least 1":             {k: 1, iterations: 1, size: 1},
		"part 2 of 2 workers":    {d: 2, k: 1, iterations: 1, part: 2, size: 2},
	} {
		j.points = points
		if err := j.run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
