package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/tracker"
)

const (
	testPoints, testDimensions, testCentroids = 3200, 8, 40
	testIterations                            = 20
	testSize, testPart                        = 16, testPoints / 16 * testDimensions
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
	if files, err := os.ReadDir(filepath.Dir(j.out)); err != nil || len(files) != 1 {
		t.Errorf("files beside the centroids: %v, %v", files, err) // a file "points" there may be the user's
	}
	points := randomPoints(demoPoints, j.d)
	want := alone(state{d: j.d, centroids: points[:j.d*j.k]}, points, testIterations)
	if got, err := os.ReadFile(j.out); err != nil || !slices.Equal(got, encode(want)) {
		t.Fatal("other centroids than one process", err)
	}
}

// startTracker starts a tracker, and returns its address.
func startTracker(t *testing.T) string {
	t.Helper()
	node, stop, err := startNode("tracker", "/ip4/127.0.0.1/tcp/0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	server := tracker.New(node.Host(), nil)
	t.Cleanup(func() { server.Close() })
	return node.Addrs()[0].String()
}

// startWorkers starts the nodes of 16 workers in four clusters.
func startWorkers(t *testing.T) (all []*worker, points []float64) {
	t.Helper()
	introducer := startTracker(t)
	points = randomPoints(testPoints, testDimensions)
	for i := range testSize {
		node, stop, err := startNode(string(rune('A'+i/4)), "/ip4/127.0.0.1/tcp/0", introducer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		all = append(all, &worker{
			state: state{d: testDimensions, centroids: slices.Clone(points[:testDimensions*testCentroids])},
			node:  node, name: t.Name(), size: testSize, rejoin: time.Minute, part: i, parts: testSize, points: points[i*testPart : (i+1)*testPart], sum: collective.SumFloat64,
			write: func([]float64) error { return nil },
		})
	}
	return all, points
}

// runAll runs workers, and checks that all but the victim have the centroids in the end.
func runAll(t *testing.T, all []*worker, victim int, want func() []float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i, w := range all {
		wg.Go(func() {
			if err := w.run(ctx, testIterations); i != victim && err != nil {
				t.Errorf("worker %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	centroids := want()
	for i, w := range all {
		if i != victim && (w.size != testSize-1 || !slices.Equal(w.centroids, centroids)) {
			t.Errorf("worker %d of %d has other centroids", i, w.size)
		}
	}
}

// TestWorkerKilled closes the node of a worker midway. The remaining ones continue from the last centroids, and have the centroids
// that one process has with their points.
func TestWorkerKilled(t *testing.T) {
	all, points := startWorkers(t)
	const victim = 5
	all[victim].before = func() {
		if all[victim].iteration == testIterations/2 {
			_ = all[victim].node.Close()
		}
	}
	var last *state // with all points
	all[0].before = func() {
		if all[0].size < testSize && last == nil {
			last = &state{all[0].iteration, testDimensions, slices.Clone(all[0].centroids)}
		}
	}
	runAll(t, all, victim, func() []float64 {
		if last == nil || last.iteration < testIterations/2 {
			t.Fatalf("they continue from %+v", last)
		}
		return alone(*last, slices.Delete(slices.Clone(points), victim*testPart, (victim+1)*testPart), testIterations)
	})
}

// TestWorkerKilledInLastIteration closes the node of a worker that has sent the sums of its cluster to the other clusters, and not
// yet the result to its own. The workers of the other clusters have the last centroids, and wait for those that do not.
func TestWorkerKilledInLastIteration(t *testing.T) {
	all, points := startWorkers(t)
	victim := 4 // has the first rank of cluster B, where it merges
	for i := 5; i < 8; i++ {
		if all[i].node.Host().ID() < all[victim].node.Host().ID() {
			victim = i
		}
	}
	done := make(chan struct{}, testSize)
	for i, w := range all {
		w.before = func() {
			if w.iteration == testIterations && w.size == testSize && i/4 != victim/4 {
				done <- struct{}{}
			}
		}
	}
	merges := 0
	all[victim].sum.Merge = func(dst, src []byte) ([]byte, error) {
		if merges++; merges == 6*testIterations { // three of its cluster, then three of the clusters
			for range testSize - 4 {
				<-done
			}
			_ = all[victim].node.Close()
		}
		return collective.SumFloat64.Merge(dst, src)
	}
	runAll(t, all, victim, func() []float64 {
		return alone(state{d: testDimensions, centroids: points[:testDimensions*testCentroids]}, points, testIterations)
	})
}

// Rank 0 and another worker are killed after the last iteration. The remaining ones cannot join again, and write the centroids.
func TestTwoWorkersKilledAfterLastIteration(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all, points := startWorkers(t)
	slices.SortFunc(all[:4], func(a, b *worker) int {
		return strings.Compare(string(a.node.Host().ID()), string(b.node.Host().ID())) // ranks of cluster A
	})
	want := alone(state{d: testDimensions, centroids: points[:testDimensions*testCentroids]}, points, testIterations)
	const victims = 2
	var last, running sync.WaitGroup
	last.Add(testSize - victims)
	var written atomic.Int64
	for i, w := range all {
		w.rejoin = time.Second
		w.before = func() {
			switch {
			case w.iteration < testIterations:
			case i < victims:
				last.Wait()
				_ = w.node.Close()
			default:
				last.Done()
			}
		}
		w.write = func(centroids []float64) error {
			if i >= victims && slices.Equal(centroids, want) {
				written.Add(1)
			}
			return nil
		}
		running.Go(func() {
			if err := w.run(ctx, testIterations); i >= victims && err != nil {
				t.Errorf("worker %d: %v", i, err)
			}
		})
	}
	running.Wait()
	if n := written.Load(); n != testSize-victims {
		t.Errorf("%d workers have written the centroids", n)
	}
}

// TestInvalidJob rejects a file with fewer points than centroids, numbers out of range, a worker without a name, and a file of centroids
// in a directory that does not exist.
func TestInvalidJob(t *testing.T) {
	points := filepath.Join(t.TempDir(), "points")
	if err := os.WriteFile(points, make([]byte, 32), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, j := range map[string]job{
		"2 points, fewer than 3": {d: 2, k: 3, iterations: 1, size: 1, name: "points"},
		"-name is missing":       {d: 2, k: 1, iterations: 1, size: 1},
		"at least 1":             {k: 1, iterations: 1, size: 1},
		"part 2 of 2 workers":    {d: 2, k: 1, iterations: 1, part: 2, size: 2},
		"-o: ":                   {d: 2, k: 1, iterations: 1, size: 1, name: "points", out: filepath.Join(points, "none", "centroids")},
	} {
		j.points = points
		if err := j.run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A node that does not start leaves no directory.
func TestNodeThatDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, tt := range []struct{ cluster, tracker string }{{"A", "not an address"}, {"a cluster/ with an invalid name", ""}} {
		if _, _, err := startNode(tt.cluster, "/ip4/127.0.0.1/tcp/0", tt.tracker); err == nil {
			t.Errorf("%+v: no error", tt)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
