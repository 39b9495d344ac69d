package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

var soakTime = flag.Duration("soak", 0, "how long TestSoak runs; 0 skips it")

const (
	soakSamples  = 60 // of each daemon that is never killed
	soakAtOnce   = 4  // transfers
	soakMaxSize  = 24 << 20
	soakMaxFiles = 40
)

// TestSoak runs many transfers on a grid, several at a time, of files and directories, from
// random sources to random receivers that join at random times, while random daemons are
// killed or ended and started again. Every copy must be intact, and the memory, the
// descriptors and the goroutines of daemons that run all the time must stay flat.
func TestSoak(t *testing.T) {
	if *soakTime == 0 {
		t.Skip("takes half an hour: see make soak")
	}
	f, names := newFleet(t, netns.Uniform(25*netns.MBps, "A", "B", "C"), 3, 3, 3)
	f.startTracker(t, f.Grid.Node("A", 0))
	s := &soak{t: t, fleet: f, contents: t.TempDir()}
	for _, cluster := range names {
		for i, node := range f.Grid.Nodes(cluster) {
			s.nodes = append(s.nodes, &soakNode{daemon: f.startDaemon(t, node), steady: i == 0})
		}
	}
	s.run(t.Context(), *soakTime)
}

// soak is a run of [TestSoak].
type soak struct {
	t        *testing.T
	fleet    *Fleet
	contents string // directory of what is seeded
	nodes    []*soakNode

	transfers, copies, kills atomic.Int64
	bytes                    atomic.Int64
}

// soakNode is a node whose daemon may be killed at any time, and is started again.
type soakNode struct {
	steady bool // it is never killed

	mu     sync.RWMutex
	daemon *Daemon
}

func (n *soakNode) current() *Daemon {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.daemon
}

// retry calls a command until it succeeds: the daemon may be killed.
func (n *soakNode) retry(ctx context.Context, args ...string) (out string, err error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, time.Minute)
		out, err = n.current().mob(attempt, args...)
		cancel()
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// restart ends the daemon, gently or not, and starts it again.
func (n *soakNode) restart(gently bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	end := n.daemon.Kill
	if gently {
		end = n.daemon.Stop
	}
	if err := end(); err != nil {
		return err
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		d, err := n.daemon.fleet.StartDaemon(n.daemon.Node)
		if err == nil {
			n.daemon = d
			return nil
		}
		// A get that finds no daemon takes its place until it is done.
		if !strings.Contains(err.Error(), "in use by another daemon") || time.Now().After(deadline) {
			return err
		}
	}
}

// run runs transfers for a time, and prints and checks the resources of the daemons.
func (s *soak) run(ctx context.Context, length time.Duration) {
	before := s.sample()
	over := time.Now().Add(length)
	ctx, cancel := context.WithDeadline(ctx, over.Add(5*time.Minute))
	defer cancel()
	var work sync.WaitGroup
	for i := range soakAtOnce {
		work.Go(func() {
			for round := 0; time.Now().Before(over) && !s.t.Failed(); round++ {
				s.transfer(ctx, fmt.Sprintf("%d-%d", i, round))
			}
		})
	}
	work.Go(func() {
		for time.Now().Before(over) && !s.t.Failed() {
			time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Second))))
			n := s.nodes[rand.IntN(len(s.nodes))]
			if n.steady {
				continue
			}
			if err := n.restart(rand.IntN(2) == 0); err != nil {
				s.t.Errorf("%s: %v", n.current().Name(), err)
			}
			s.kills.Add(1)
		}
	})
	fmt.Println("minute  transfers  copies      MB  restarts   memory MB  descriptors  goroutines   (highest of the daemons that run all the time)")
	var curve []soakUse
	start := time.Now()
	for range soakSamples {
		time.Sleep(length / soakSamples)
		u := s.sample()
		curve = append(curve, u)
		fmt.Printf("%6.1f %10d %7d %7d %9d %11.1f %12d %11d\n", time.Since(start).Minutes(), s.transfers.Load(),
			s.copies.Load(), s.bytes.Load()>>20, s.kills.Load(), float64(u.memory)/1e6, u.descriptors, u.goroutines)
	}
	work.Wait()
	s.checkFlat(curve)
	s.checkIdle(before)
}

// transfer sends one file or directory to some nodes, checks their copies, and removes all of it.
func (s *soak) transfer(ctx context.Context, name string) {
	path := filepath.Join(s.contents, name)
	size, err := soakContent(path)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer os.RemoveAll(path)
	nodes := slices.Clone(s.nodes)
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	source, receivers := nodes[0], nodes[1:2+rand.IntN(len(nodes)-1)]
	link, err := source.retry(ctx, "seed", path)
	if err != nil {
		s.t.Error(err)
		return
	}
	var gets sync.WaitGroup
	for _, n := range receivers {
		gets.Go(func() {
			time.Sleep(time.Duration(rand.Int64N(int64(3 * time.Second)))) // it joins late
			copied := n.current().Out() + "-" + name
			if _, err := n.retry(ctx, "get", link, "-o", copied); err != nil {
				s.t.Errorf("%s: %v", name, err)
				return
			}
			if err := sameTree(ctx, path, copied); err != nil {
				s.t.Errorf("%s: copy of %s: %v", n.current().Name(), name, err)
			}
			s.copies.Add(1)
			s.bytes.Add(size)
		})
	}
	gets.Wait()
	for _, n := range receivers {
		copied := n.current().Out() + "-" + name
		if err := n.remove(ctx, link, "--content"); err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(copied); err == nil && ctx.Err() == nil {
			s.t.Errorf("%s: %s is left", n.current().Name(), copied)
		}
	}
	if err := source.remove(ctx, link); err != nil {
		s.t.Errorf("%s: %v", name, err)
	}
	s.transfers.Add(1)
}

// remove removes a transfer. The daemon may be killed, even when it is done.
func (n *soakNode) remove(ctx context.Context, link string, flags ...string) error {
	for {
		_, err := n.current().mob(ctx, append([]string{"rm", link}, flags...)...)
		if err == nil || strings.Contains(err.Error(), "no such transfer") {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// soakContent makes a file or a directory of random bytes, and returns its size.
func soakContent(path string) (size int64, err error) {
	size = 1 + rand.Int64N(soakMaxSize)
	if rand.IntN(2) == 0 {
		return size, writeContent(context.Background(), path, size, rand.Uint64())
	}
	files := 1 + rand.Int64N(soakMaxFiles)
	for i := range files {
		name := filepath.Join(path, fmt.Sprint(i%7), fmt.Sprint(i))
		err = os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = writeContent(context.Background(), name, size/files, rand.Uint64())
		}
		if err != nil {
			return 0, err
		}
	}
	return size, nil
}

// sameTree returns an error unless two files, or all files of two directories, are equal.
func sameTree(ctx context.Context, a, b string) error {
	return filepath.WalkDir(a, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		other := b + strings.TrimPrefix(path, a)
		same, err := sameContent(ctx, path, other)
		if err == nil && !same {
			err = fmt.Errorf("%s differs", other)
		}
		return err
	})
}

// soakUse is the resources of daemons: the highest of several.
type soakUse struct {
	memory      int64
	descriptors int
	goroutines  int
}

// sample returns the resources of the daemons that run all the time.
func (s *soak) sample() (u soakUse) {
	for _, n := range s.nodes {
		if !n.steady {
			continue
		}
		d := n.current()
		used, err1 := d.proc.Process.Usage()
		descriptors, err2 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.proc.Pid()))
		goroutines, err3 := d.goroutines()
		for _, err := range []error{err1, err2, err3} {
			if err != nil {
				s.t.Errorf("%s: %v", d.Name(), err)
			}
		}
		u.memory = max(u.memory, used.Memory)
		u.descriptors = max(u.descriptors, len(descriptors))
		u.goroutines = max(u.goroutines, goroutines)
	}
	return u
}

// goroutines asks the daemon for the number of its goroutines.
func (d *Daemon) goroutines() (n int, err error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(d.dir, "mobd.sock"))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp, err := client.Get("http://mobd/debug/pprof/goroutine?debug=1")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscanf(string(text), "goroutine profile: total %d", &n)
	return n, err
}

// checkFlat fails the test if the daemons use more and more. The load is random and its
// peaks are, so it compares the lower quartiles of the second and the last third.
func (s *soak) checkFlat(curve []soakUse) {
	third := len(curve) / 3
	for _, c := range []struct {
		what      string
		of        func(soakUse) float64
		tolerance float64
	}{
		{"memory in bytes", func(u soakUse) float64 { return float64(u.memory) }, 8e6},
		{"descriptors", func(u soakUse) float64 { return float64(u.descriptors) }, 10},
		{"goroutines", func(u soakUse) float64 { return float64(u.goroutines) }, 30},
	} {
		quartile := func(part []soakUse) float64 {
			var values []float64
			for _, u := range part {
				values = append(values, c.of(u))
			}
			slices.Sort(values)
			return values[len(values)/4]
		}
		early, late := quartile(curve[third:2*third]), quartile(curve[2*third:])
		fmt.Printf("%s: %.4g in the second third, %.4g in the last (lower quartiles)\n", c.what, early, late)
		if late > 1.15*early+c.tolerance {
			s.t.Errorf("%s grow from %.4g to %.4g", c.what, early, late)
		}
	}
}

// checkIdle fails the test if the daemons that run all the time do not come back to about
// what they used before the first transfer, or keep the state of one.
func (s *soak) checkIdle(before soakUse) {
	var after soakUse
	for range 60 { // connections to peers end when nothing keeps them
		after = s.sample()
		if after.descriptors <= before.descriptors+30 && after.goroutines <= before.goroutines+100 {
			break
		}
		time.Sleep(time.Second)
	}
	fmt.Printf("idle, before and after: memory %.1f and %.1f MB, descriptors %d and %d, goroutines %d and %d\n",
		float64(before.memory)/1e6, float64(after.memory)/1e6,
		before.descriptors, after.descriptors, before.goroutines, after.goroutines)
	if after.descriptors > before.descriptors+30 || after.goroutines > before.goroutines+100 {
		s.t.Error("descriptors or goroutines are left when nothing is transferred any more")
	}
	for _, n := range s.nodes {
		left, err := os.ReadDir(filepath.Join(n.current().dir, "transfers"))
		if err != nil || len(left) > 0 {
			s.t.Errorf("%s: the state of %d transfers is left: %v", n.current().Name(), len(left), err)
		}
	}
}
