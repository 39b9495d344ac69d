// Command kmeans clusters points with k-means on many nodes. Each worker reads its points once. An iteration is local sums, an
// AllReduce of k(d+1) numbers, and new centroids. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// job is the part of one worker.
type job struct {
	points, cluster, tracker, name, out string
	d, k, iterations, part, size        int
}

func main() {
	var j job
	part, _ := strconv.Atoi(os.Getenv("SLURM_PROCID")) // 0 without
	size, _ := strconv.Atoi(os.Getenv("SLURM_NTASKS"))
	demo := flag.Bool("demo", false, "run 16 workers in this process")
	flag.StringVar(&j.points, "points", "", "`file` of points, each d float64 in little-endian")
	flag.IntVar(&j.d, "d", 20, "numbers of a point")
	flag.IntVar(&j.k, "k", 100, "centroids, at first the first points of the file")
	flag.IntVar(&j.iterations, "iterations", 20, "iterations")
	flag.IntVar(&j.part, "part", part, "number of this worker, from 0")
	flag.IntVar(&j.size, "size", max(1, size), "number of workers")
	flag.StringVar(&j.cluster, "cluster", os.Getenv("MOB_CLUSTER"), "cluster of this worker")
	flag.StringVar(&j.tracker, "tracker", os.Getenv("MOB_TRACKER"), "`address` of a tracker, see mob tracker")
	flag.StringVar(&j.name, "name", os.Getenv("KMEANS_NAME"), "secret name of the group")
	flag.StringVar(&j.out, "o", "centroids", "`file` for the centroids, which rank 0 writes")
	flag.Parse()
	run := j.run
	if *demo {
		run = j.demo
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "kmeans:", err)
		os.Exit(1)
	}
}

// run runs a worker. Points stay in memory.
func (j job) run(ctx context.Context) error {
	if j.d < 1 || j.k < 1 || j.iterations < 1 {
		return errors.New("-d, -k and -iterations must be at least 1")
	}
	if j.part < 0 || j.part >= j.size {
		return fmt.Errorf("part %d of %d workers: parts start at 0", j.part, j.size)
	}
	if j.name == "" {
		return errors.New("-name is missing: who knows the name can join")
	}
	if _, err := os.Stat(filepath.Dir(j.out)); err != nil { // before hours of work
		return fmt.Errorf("-o: %w", err)
	}
	b, err := os.ReadFile(j.points)
	if err != nil {
		return err
	}
	n := len(b) / 8 / j.d // points
	if n < j.k {
		return fmt.Errorf("%s has %d points, fewer than %d centroids", j.points, n, j.k)
	}
	node, stop, err := startNode(j.cluster, "/ip4/0.0.0.0/tcp/0", j.tracker)
	if err != nil {
		return err
	}
	defer stop()
	w := &worker{
		state: state{d: j.d, centroids: decode(b[:8*j.d*j.k])}, node: node, name: j.name, size: j.size, rejoin: time.Minute, sum: collective.SumFloat64,
		part: j.part, parts: j.size, points: decode(b[n*j.part/j.size*8*j.d : n*(j.part+1)/j.size*8*j.d]),
	}
	w.write = func(centroids []float64) error {
		each := w.communication / time.Duration(j.iterations)
		fmt.Fprintf(os.Stderr, "%d iterations, each with %v of communication\n", j.iterations, each.Round(time.Microsecond))
		return os.WriteFile(j.out, encode(centroids), 0o644)
	}
	return w.run(ctx, j.iterations)
}

// startNode starts a node that finds the remaining ones by trackers. Its directory is removed by stop.
func startNode(cluster, listen string, trackers ...string) (node *peer.Node, stop func(), err error) {
	infos := make([]libpeer.AddrInfo, len(trackers))
	cfg := peer.Config{
		Cluster: cluster, Listen: []ma.Multiaddr{ma.StringCast(listen)},
		Finder: func(h libhost.Host, _ []ma.Multiaddr) peer.Finder {
			return tracker.NewClient(h, infos, tracker.ClientConfig{})
		},
	}
	for i, t := range trackers {
		info, err := libpeer.AddrInfoFromString(t)
		if err != nil {
			return nil, nil, fmt.Errorf("tracker %q: %w", t, err)
		}
		infos[i], cfg.Trackers = *info, append(cfg.Trackers, ma.StringCast(t))
	}
	if cfg.Data, err = os.MkdirTemp("", "kmeans-"); err != nil {
		return nil, nil, err
	}
	if node, err = peer.Start(cfg); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(cfg.Data))
	}
	return node, func() { _, _ = node.Close(), os.RemoveAll(cfg.Data) }, nil
}

// demo runs 16 workers in four clusters of this process, on random points.
func (j job) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "kmeans-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	introducer, stop, err := startNode("tracker", "/ip4/127.0.0.1/tcp/0")
	if err != nil {
		return err
	}
	defer stop()
	server := tracker.New(introducer.Host(), nil)
	defer server.Close()
	j.points, j.name, j.size, j.tracker = filepath.Join(dir, "points"), "demo", 16, introducer.Addrs()[0].String()
	if err := os.WriteFile(j.points, encode(randomPoints(demoPoints, j.d)), 0o644); err != nil {
		return err
	}
	ended := make(chan error)
	for part := range j.size {
		w := j
		w.part, w.cluster = part, string(rune('A'+part/4))
		go func() { ended <- w.run(ctx) }()
	}
	for range j.size {
		err = errors.Join(err, <-ended)
	}
	return err
}

// demoPoints is the number of points of a demo.
const demoPoints = 16_000

// randomPoints returns n points of d integers, the same in each run.
func randomPoints(n, d int) []float64 {
	points := make([]float64, n*d)
	for i, x := 0, uint32(1); i < len(points); i++ {
		x = x*1664525 + 1013904223
		points[i] = float64(x >> 22)
	}
	return points
}
