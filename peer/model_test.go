package peer_test

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

var (
	modelTime = flag.Duration("model", 0, "how long TestModel runs, from a random seed on; 0 for its 20 seeds")
	modelSeed = flag.Uint64("model.seed", 0, "the only seed that TestModel runs, or the first one with -model")
)

const (
	modelSteps = 40
	modelBound = 3 * time.Minute // of each call: it only ends hangs
)

// TestModel runs random sequences of changes of files and of calls of a node. After each of them, no file of the
// user was touched, no incomplete transfer is reported as complete, and each call has returned, with an error that names
// a file if it failed.
func TestModel(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) { t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, seed) }) }
	switch {
	case *modelSeed != 0 && *modelTime == 0:
		run(*modelSeed)
	case *modelTime == 0:
		var all sync.WaitGroup
		for worker := range uint64(4) {
			all.Go(func() {
				for seed := 1 + worker; seed <= 20; seed += 4 {
					run(seed)
				}
			})
		}
		all.Wait()
	default:
		var all sync.WaitGroup
		var last atomic.Uint64
		last.Store(cmp.Or(*modelSeed, rand.Uint64N(1e6)) - 1)
		for range 4 {
			all.Go(func() {
				for end := time.Now().Add(*modelTime); time.Now().Before(end) && !t.Failed(); {
					run(last.Add(1))
				}
			})
		}
		all.Wait()
	}
}

// model is a directory of a user with a node that fetches to it.
type model struct {
	*testing.T
	rng       *rand.Rand
	dir, out  string
	source    string
	content   map[string]thing // by the path below out, "" if the content is one file
	names     []string         // of content, sorted
	link      *proto.Link
	node      *peer.Node
	disk      *mortal
	data      string
	published atomic.Pointer[func()] // called once after a Publish
	mine      map[string]*owned
	linked    bool // a link was at out
	number    int

	mu    sync.Mutex
	trace []string
}

func runModel(t *testing.T, seed uint64) {
	m := &model{T: t, rng: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), data: t.TempDir(), mine: map[string]*owned{}}
	m.out, m.source = filepath.Join(m.dir, "out"), filepath.Join(t.TempDir(), "src")
	defer func() {
		if t.Failed() {
			t.Logf("repeat with -run TestModel -model.seed %d\n%s", seed, strings.Join(m.trace, "\n"))
		}
	}()
	check(m, os.Mkdir(filepath.Join(m.dir, "trash"), 0o700))
	m.makeSource()
	seeder := peertest.Start(t, "A")
	_, m.link = peertest.Seed(t, seeder, m.source, peer.SeedOptions{PieceLength: 16 << 10})
	for _, path := range []string{"secret", "elsewhere/a", "elsewhere/c"} {
		put(t, filepath.Join(m.dir, path), "mine")
		m.own(filepath.Join(m.dir, path), false)
	}
	m.start()
	m.get(m.out, peer.GetOptions{})
	m.check("get")
	for range modelSteps {
		m.step()
	}
	check(t, m.node.Close())
	m.check("close")
}

// makeSource makes the content: a directory, or one file.
func (m *model) makeSource() {
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(m.rng.Uint32())
		}
		return string(b)
	}
	m.content = map[string]thing{
		"a": {0o644, random(40 << 10)}, "b": {0o600, "abc"}, "d/c": {0o755, random(20 << 10)}, "d/empty": {0o644, ""},
		"d/f": {0o644, random(50 << 10)}, "z": {0o640, random(16 << 10)}, "link": {fs.ModeSymlink | 0o777, "a"},
		"d": {fs.ModeDir | 0o755, ""}, "none": {fs.ModeDir | 0o755, ""},
	}
	if m.rng.IntN(4) == 0 {
		m.content = map[string]thing{"": {0o644, random(70 << 10)}}
	}
	m.names = slices.Sorted(maps.Keys(m.content))
	for _, name := range m.names {
		th, path := m.content[name], filepath.Join(m.source, name)
		switch th.mode.Type() {
		case fs.ModeDir:
			check(m, os.MkdirAll(path, 0o755))
		case fs.ModeSymlink:
			check(m, os.Symlink(th.text, path))
		default:
			check(m, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(th.text), 0o600), os.Chmod(path, th.mode))
		}
	}
}

func (m *model) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

// step takes one random action, and checks the result.
func (m *model) step() {
	m.Helper()
	if m.rng.IntN(2) == 0 {
		m.check(m.user())
		return
	}
	calls := []struct {
		weight int
		what   string
		do     func()
	}{
		{6, "get", func() { m.get(m.out, peer.GetOptions{}) }},
		{1, "get elsewhere", func() { m.get(m.out+"2", peer.GetOptions{}) }},
		{2, "get --reuse", func() { m.reuse(m.out) }},
		{1, "get --reuse of what was moved away", func() { m.reuse(m.out + "-away") }},
		{4, "get, and a change during it", m.getDuringChange},
		{3, "get as another one ends", m.getAtEnd},
		{3, "get, and a kill", m.getKilled},
		{1, "seed", m.seed},
		{2, "rm", func() { m.remove(false) }},
		{2, "rm --content", func() { m.remove(true) }},
		{1, "keep", m.keep},
		{3, "verify", m.verify},
		{1, "stop", m.stop},
		{2, "restart", func() { m.restart(false) }},
		{2, "kill", func() { m.restart(true) }},
	}
	sum := 0
	for _, c := range calls {
		sum += c.weight
	}
	at := m.rng.IntN(sum)
	for _, c := range calls {
		if at -= c.weight; at < 0 {
			c.do()
			m.check(c.what)
			return
		}
	}
}
