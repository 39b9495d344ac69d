package feed_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/workers"
)

var figures = flag.Bool("figures", false, "post 30 versions of each size, and check times: for a machine without other work")

// grid is a publisher and 15 followers in 4 clusters, 40 ms apart.
type grid struct {
	t       *testing.T
	links   *netns.Grid
	post    io.Writer // paths of versions
	outputs []*json.Decoder
	seq     uint64
}

func startGrid(t *testing.T) *grid {
	t.Helper()
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	if err := netns.Available(); err != nil {
		t.Skip(err)
	}
	links, err := workers.NewGrid(1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Cleanup(func() { links.Close() }) // ends the processes before their directories are removed
	g := &grid{t: t, links: links}
	var first event
	for _, cluster := range []string{"A", "B", "C", "D"} {
		for _, n := range links.Nodes(cluster) {
			node := workers.Node{Data: filepath.Join(dir, n.Name()), Cluster: cluster, IP: n.IP.String(), Tracker: first.Addr}
			cfg := workerConfig{Node: node, Link: first.Link}
			if first.Link == "" {
				cfg.Feeds = 1
			}
			cmd, err := workers.Command(worker, cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, in, out, err := workers.Start(n, cmd)
			if err != nil {
				t.Fatal(err)
			}
			g.outputs = append(g.outputs, json.NewDecoder(out))
			if first.Link == "" {
				first, g.post = g.read(0), in
			}
		}
	}
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) { // the publisher has sessions with members of its cluster and 8 of each other
		if e := g.send(""); e.Members == len(g.outputs)-1 {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal("the followers do not join in a minute")
		}
	}
	return g
}

func (g *grid) read(i int) (e event) {
	g.t.Helper()
	if err := g.outputs[i].Decode(&e); err != nil {
		g.t.Fatalf("node %d: %v", i, err)
	}
	return e
}

// send sends a line to the publisher, and returns its answer.
func (g *grid) send(line string) event {
	g.t.Helper()
	if _, err := io.WriteString(g.post, line+"\n"); err != nil {
		g.t.Fatal(err)
	}
	return g.read(0)
}

// version posts a file. It returns the time until the last follower had it, and the most bytes that entered a cluster.
func (g *grid) version(content []byte) (took time.Duration, in int) {
	g.t.Helper()
	path := filepath.Join(g.t.TempDir(), "v")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		g.t.Fatal(err)
	}
	before := g.bytes()
	posted := g.send(path)
	g.seq++
	if posted.Seq != g.seq {
		g.t.Fatalf("version %d, want %d", posted.Seq, g.seq)
	}
	for i := range g.outputs[1:] {
		e := g.read(i + 1)
		if e.Seq != g.seq {
			g.t.Fatalf("node %d has version %d, want %d", i+1, e.Seq, g.seq)
		}
		took = max(took, e.At.Sub(posted.At))
	}
	for cluster, n := range g.bytes() {
		in = max(in, n-before[cluster])
	}
	return took, in
}

// bytes returns the bytes that have entered each cluster.
func (g *grid) bytes() map[string]int {
	g.t.Helper()
	links, err := g.links.LinkBytes()
	if err != nil {
		g.t.Fatal(err)
	}
	in := map[string]int{}
	for _, l := range links {
		in[l.To] += int(l.Bytes)
	}
	return in
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// TestPush posts versions of several sizes: each byte of a small one enters each cluster about once.
func TestPush(t *testing.T) {
	g := startGrid(t)
	posts := 3
	if *figures {
		posts = 30
	}
	g.version([]byte("first"))
	for _, row := range []struct {
		size, median, p99 int // bytes; ms, 0 for no limit
		copies            float64
	}{{8_000, 0, 0, 0}, {32_000, 60, 120, 1.5}, {128_000, 0, 0, 0}, {512_000, 280, 0, 1.08}, {2_000_000, 0, 0, 0}} {
		t.Run(fmt.Sprint(row.size), func(t *testing.T) {
			var took []time.Duration
			var copies []float64
			for range posts {
				d, in := g.version(randomBytes(row.size))
				took, copies = append(took, d), append(copies, float64(in)/float64(row.size))
			}
			slices.Sort(took)
			slices.Sort(copies)
			median, p99, copied := took[posts/2], took[posts-1], copies[posts/2]
			t.Logf("%d bytes: median %v, slowest of %d %v; %.2f copies into a cluster", row.size, median, posts, p99, copied)
			if row.copies > 0 && copied > row.copies {
				t.Errorf("%.2f copies, want %.2f", copied, row.copies)
			}
			if *figures && row.median > 0 && median > time.Duration(row.median)*time.Millisecond {
				t.Errorf("median %v, want %d ms", median, row.median)
			}
			if *figures && row.p99 > 0 && p99 > time.Duration(row.p99)*time.Millisecond {
				t.Errorf("p99 %v, want %d ms", p99, row.p99)
			}
		})
	}
}

// TestDelta posts a large version, and then one with few changes.
func TestDelta(t *testing.T) {
	size := 12_000_000
	if *figures {
		size = 120_000_000
	}
	g := startGrid(t)
	content := randomBytes(size)
	took, in := g.version(content)
	t.Logf("%d bytes: %v, %.2f copies into a cluster", size, took, float64(in)/float64(size))

	weights := bytes.Clone(content)
	for range size / 2 / 100 { // 1 % of values of two bytes
		weights[rand.IntN(size/2)*2] ^= byte(1 + rand.IntN(15))
	}
	took, in = g.version(weights)
	share := float64(in) / float64(size)
	t.Logf("1 %% of the values changed: %v, %.4f of the bytes into a cluster", took, share)
	most := 0.1 // handshakes count
	if *figures {
		most = 0.03
	}
	if share > most {
		t.Errorf("%.4f of the bytes entered a cluster, want %.2f", share, most)
	}
	if *figures && took > 4*time.Second {
		t.Errorf("it took %v, want 4 s", took)
	}
	blocks, changed := bytes.Clone(weights), 0
	const block = 64 << 10
	for i := 0; i+block <= size; i += 100 * block { // 1 % of the blocks
		copy(blocks[i:], randomBytes(block))
		changed += block
	}
	took, in = g.version(blocks)
	t.Logf("1 %% of the blocks of 64 KiB rewritten: %v, %.4f of the bytes into a cluster", took, float64(in)/float64(size))
}
