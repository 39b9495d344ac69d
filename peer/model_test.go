package peer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

var (
	modelTime = flag.Duration("model", 0, "how long TestModel runs with random seeds; 0 for its 20 seeds")
	modelSeed = flag.Uint64("model.seed", 0, "the only seed that TestModel runs")
)

const (
	modelSteps = 40
	modelBound = 20 * time.Second // of each call
)

// TestModel runs random sequences of what a user does to files, and of calls of a node. After each of them, no file of the
// user's was touched, no transfer is reported as complete that is not, and each call has returned, with an error that names
// a file if it failed.
func TestModel(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) { t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, seed) }) }
	switch {
	case *modelSeed != 0:
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
		for range 4 {
			all.Go(func() {
				for end := time.Now().Add(*modelTime); time.Now().Before(end) && !t.Failed(); {
					run(rand.Uint64N(1e6))
				}
			})
		}
		all.Wait()
	}
}

// thing is what is at a path: a file with its bytes, a link with its target, or a directory.
type thing struct {
	mode fs.FileMode
	text string
}

// see returns what is at a path, the zero thing if nothing is.
func see(path string) (th thing) {
	info, err := os.Lstat(path)
	if err != nil {
		return th
	}
	th.mode = info.Mode()
	switch th.mode.Type() {
	case 0:
		b, _ := os.ReadFile(path)
		th.text = string(b)
	case fs.ModeSymlink:
		th.text, _ = os.Readlink(path)
	case fs.ModeDir:
		th.mode = fs.ModeDir // the node may make it writable
	}
	return th
}

func (th thing) String() string {
	if len(th.text) > 20 {
		return fmt.Sprintf("%v, %d bytes %x...", th.mode, len(th.text), sha256.Sum256([]byte(th.text)))
	}
	return fmt.Sprintf("%v %q", th.mode, th.text)
}

// owned is something of the user's.
type owned struct {
	thing
	changed    bool // the node made it, and the user changed it in place: it may be repaired
	repairable bool // a call that may repair it was made since
	reused     bool // it was there when a get took over what is there
	right      bool // it has the bytes of the content
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
		"d": {fs.ModeDir, ""}, "none": {fs.ModeDir, ""},
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

// start starts the node.
func (m *model) start() {
	m.disk = &mortal{FS: vfs.OS{}}
	var err error
	m.node, err = peer.Start(peer.Config{Data: m.data, Cluster: "B", Log: slog.New(slog.DiscardHandler)}, peer.WithFiles(m.disk),
		peer.WithStore(func(st store.Store) store.Store { return publishing{st, m.atEnd} }))
	check(m, err)
	disk := m.disk
	m.node.SetRemove(func(dir, root string, mf *proto.Manifest) ([]store.Left, error) {
		return store.RemoveOn(disk, dir, root, mf)
	})
}

// atEnd runs what is to happen as a get ends.
func (m *model) atEnd() {
	if f := m.published.Swap(nil); f != nil {
		(*f)()
	}
}

func (m *model) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

// call runs a call, which must return in a bounded time. Its error must name a path.
func (m *model) call(what string, f func() error) error {
	m.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		m.note("%s: %v", what, err)
		if err != nil && !m.blames(err) {
			m.Errorf("%s fails and names no file: %v", what, err)
		}
		return err
	case <-time.After(modelBound):
		for _, t := range m.node.Transfers() {
			m.Logf("%+v", t.Status())
		}
		b := make([]byte, 1<<20)
		m.Logf("%s", b[:runtime.Stack(b, true)])
		m.Fatalf("%s does not return", what)
	}
	return nil
}

// blames reports whether an error names something of the content, or what to do.
func (m *model) blames(err error) bool {
	text := err.Error()
	if strings.Contains(text, m.dir) || errors.Is(err, peer.ErrStopped) || errors.Is(err, errWaits) {
		return true
	}
	if strings.Contains(text, m.data) || strings.Contains(text, filepath.Base(m.source)+" (") {
		return true // the state of a transfer, or the content's name in a list of differences
	}
	return slices.ContainsFunc(m.names, func(name string) bool { return name != "" && strings.Contains(text, name) })
}

// step does one thing at random, and checks what came of it.
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
		{2, "get --reuse", m.reuse},
		{4, "get, and the user meanwhile", m.getMeanwhile},
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

// user does something to the files, and returns what.
func (m *model) user() string {
	name := m.names[m.rng.IntN(len(m.names))]
	if m.rng.IntN(5) == 0 {
		name = filepath.Join(filepath.Dir(name), "extra")
	}
	how := m.rng.IntN(12)
	if m.busy() {
		how = keepBytes[m.rng.IntN(len(keepBytes))]
	}
	return m.change(filepath.Join(m.out, name), how)
}

// keepBytes lists the changes that leave the bytes of files. Bytes that were verified and change before a transfer is
// complete show when they are served.
var keepBytes = []int{0, 1, 5, 6, 7, 8, 9, 10, 11}

// change changes what is at a path in one of several ways.
func (m *model) change(path string, how int) (what string) {
	defer func() { m.note("user: %s", what) }()
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && dir != filepath.Dir(path) {
		return "nothing"
	}
	was := see(path)
	regular := was.mode.IsRegular() && was != thing{}
	switch {
	case how == 0 && path != m.out, how == 1:
		m.away()
		return "moves the destination away or back"
	case (how == 2 || how == 3) && regular && was.text != "":
		m.inPlace(path, func() {
			b := []byte(was.text)
			b[m.rng.IntN(len(b))] ^= 1
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			check(m, err)
			_, err = f.Write(b)
			check(m, err, f.Close())
		})
		return "edits " + path
	case how == 4 && regular:
		m.inPlace(path, func() { check(m, os.Truncate(path, m.rng.Int64N(int64(len(was.text)+100)))) })
		return "truncates " + path
	case how == 5 && regular:
		m.inPlace(path, func() { check(m, os.Chmod(path, []fs.FileMode{0o400, 0o600, 0o644, 0o755, 0o444}[m.rng.IntN(5)])) })
		return "changes the mode of " + path
	case how == 6 && was != thing{}:
		m.number++
		to := filepath.Join(m.dir, fmt.Sprint("moved", m.number))
		m.disown(path)
		check(m, os.Rename(path, to))
		if !m.busy() { // else the node may have it open
			m.own(to, false)
		}
		return "moves " + path
	}
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil { // something is in the way
		return "nothing"
	}
	m.disown(path)
	switch how {
	case 7:
		check(m, m.trash(path), os.Symlink(filepath.Join(m.dir, "secret"), path))
		what = "makes a link of "
	case 8:
		check(m, m.trash(path), os.Symlink(filepath.Join(m.dir, "elsewhere"), path))
		what = "makes a link to a directory of "
	case 9:
		check(m, m.trash(path))
		put(m, filepath.Join(path, "c"), "mine")
		what = "makes a directory of "
	case 10, 0, 2:
		temp, text := path+".temp", fmt.Sprint("mine ", m.number)
		if rel, _ := filepath.Rel(m.out, path); m.rng.IntN(2) == 0 {
			text = m.content[strings.TrimPrefix(rel, ".")].text
		}
		m.number++
		check(m, os.WriteFile(temp, []byte(text), 0o644), m.trash(path), os.Rename(temp, path))
		what = "replaces "
	default:
		check(m, m.trash(path))
		return "deletes " + path
	}
	m.own(path, false)
	m.linked = m.linked || path == m.out && see(path).mode.Type() == fs.ModeSymlink
	return what + path
}

// trash removes what is at a path. It frees no inode number, which another file of the user's might get.
func (m *model) trash(path string) error {
	m.number++
	err := os.Rename(path, filepath.Join(m.dir, "trash", fmt.Sprint(m.number)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// inPlace changes a file so that the time of its last change tells.
func (m *model) inPlace(path string, change func()) {
	before, err := os.Lstat(path)
	check(m, err)
	for {
		change()
		after, err := os.Lstat(path)
		check(m, err)
		if vfs.StatOf(after).Changed != vfs.StatOf(before).Changed {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	m.own(path, m.mine[path] == nil || m.mine[path].changed)
}

// away moves the destination away, or back.
func (m *model) away() {
	from, to := m.out, m.out+"-away"
	if see(to) != (thing{}) {
		from, to = to, from
	}
	if see(to) != (thing{}) || see(from) == (thing{}) {
		return
	}
	check(m, os.Rename(from, to))
	moved := map[string]*owned{}
	for path, o := range m.mine {
		if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '/') {
			moved[to+rest] = o
			delete(m.mine, path)
		}
	}
	maps.Copy(m.mine, moved)
}

// own records what is at a path, and below it, as the user's.
func (m *model) own(path string, changed bool) {
	check(m, filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		o := &owned{thing: see(path), changed: changed, repairable: changed && m.busy()}
		if was := m.mine[path]; was != nil {
			o.reused = was.reused
		}
		m.mine[path] = o
		return err
	}))
}

// disown records that what is at a path, and below it, is no concern any more.
func (m *model) disown(path string) {
	for p := range m.mine {
		if rest, ok := strings.CutPrefix(p, path); ok && (rest == "" || rest[0] == '/') {
			delete(m.mine, p)
		}
	}
}

// busy reports whether a transfer has not settled.
func (m *model) busy() bool {
	return m.node != nil && slices.ContainsFunc(m.node.Transfers(), func(t *peer.Transfer) bool {
		phase := t.Status().Phase
		return phase == peer.Seeking || phase == peer.Checking || phase == peer.Fetching
	})
}

// mayRepair records that the node may repair from now on.
func (m *model) mayRepair() {
	for _, o := range m.mine {
		o.repairable = o.changed
	}
}

// expected returns the entry of the content at a path, the zero thing if there is none.
func (m *model) expected(path string) thing {
	for _, root := range []string{m.out, m.out + "2", m.out + "-away"} {
		if rel, err := filepath.Rel(root, path); err == nil {
			if th, ok := m.content[strings.TrimPrefix(rel, ".")]; ok {
				return th
			}
		}
	}
	return thing{}
}

// check checks that nothing of the user's was touched, and that what is reported as complete is.
func (m *model) check(what string) {
	m.Helper()
	for path, o := range m.mine {
		is, want := see(path), m.expected(path)
		switch {
		case is == o.thing:
		case o.mode.IsDir() && want.mode.IsDir() && is == thing{}: // removed as one of the content, which was empty
			delete(m.mine, path)
		case o.changed && o.repairable && o.right && is == thing{}: // repaired, and then removed by --content
			delete(m.mine, path)
		case o.changed && o.repairable && is.mode.IsRegular() && mixed(is.text, o.text, want.text):
		case o.reused && is.mode.Type() == want.mode.Type() && (is.text == want.text || is.mode.IsRegular() && mixed(is.text, o.text, want.text)):
		default:
			m.Errorf("after %q, %s is %v; the user left %v", what, path, is, o.thing)
		}
		o.right = is.text == want.text
	}
	for _, t := range m.node.Transfers() {
		state, ok := peer.LookNow(t)
		if st := t.Status(); ok && state.Intact() && st.Phase == peer.Whole && st.PiecesHave == st.Pieces && t.Manifest() != nil {
			if d := m.differs(t); d != "" {
				m.Errorf("after %q, status reports %s as complete: %s", what, st.Root, d)
			}
		}
	}
	if m.Failed() {
		m.FailNow()
	}
}

// mixed reports whether each byte of a file is the user's or the content's, or was not written yet.
func mixed(is, user, want string) bool {
	for i := range len(is) {
		if !(i < len(user) && is[i] == user[i] || i < len(want) && is[i] == want[i] || i >= len(user) && is[i] == 0) {
			return false
		}
	}
	return true
}

// differs returns how the files of a transfer differ from its manifest.
func (m *model) differs(t *peer.Transfer) string {
	mf, st := t.Manifest(), t.Status()
	if st.Seed && m.linked {
		return "" // it may follow the link that was there
	}
	root := st.Root
	if link, err := os.Readlink(root); st.Seed && err == nil {
		root = link
	}
	var stream bytes.Buffer
	for _, e := range mf.Entries {
		is := see(filepath.Join(root, e.Path))
		switch e.Kind {
		case proto.Dir:
			if !is.mode.IsDir() {
				return e.Path + " is not a directory"
			}
		case proto.Symlink:
			if is.mode.Type() != fs.ModeSymlink || is.text != e.Target {
				return e.Path + " is not the link"
			}
		default:
			if is == (thing{}) || !is.mode.IsRegular() || int64(len(is.text)) != e.Size {
				return fmt.Sprintf("%s is %v, want %d bytes", e.Path, is, e.Size)
			}
			stream.WriteString(is.text)
		}
	}
	for piece := range mf.Pieces() {
		if sum := sha256.Sum256(stream.Next(mf.PieceSize(piece))); !bytes.Equal(sum[:], mf.Hashes[piece*sha256.Size:][:sha256.Size]) {
			return fmt.Sprintf("piece %d has other bytes", piece)
		}
	}
	return ""
}

var errWaits = errors.New("the transfer waits")

// wait waits for a transfer, or until it reports for a while what it waits for.
func wait(ctx context.Context, t *peer.Transfer) error {
	for since := time.Now(); ; {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		err := t.Wait(short)
		ended := short.Err() == nil
		cancel()
		if ended || ctx.Err() != nil {
			return err
		}
		switch st := t.Status(); {
		case st.Waiting == "" || st.Phase == peer.Fetching:
			since = time.Now()
		case time.Since(since) > 500*time.Millisecond:
			return fmt.Errorf("%w for %s", errWaits, st.Waiting)
		}
	}
}

// get gets the content. If that succeeds, it is complete.
func (m *model) get(root string, opt peer.GetOptions) {
	m.getWith(root, opt, true)
}

func (m *model) getWith(root string, opt peer.GetOptions, strict bool) {
	m.Helper()
	m.mayRepair()
	var t *peer.Transfer
	err := m.call("get "+filepath.Base(root), func() (err error) {
		link := *m.link
		if t, err = m.node.Get(&link, root, opt); err != nil {
			return err
		}
		return wait(m.Context(), t)
	})
	if errors.Is(err, errWaits) {
		check(m, t.Stop())
	}
	if err != nil || !strict {
		return
	}
	if d := m.differs(t); d != "" {
		m.Errorf("a get succeeds: %s", d)
	}
	if m.rng.IntN(3) == 0 { // otherwise the next step may come before the disk is flushed
		_ = m.call("flush", func() error { return t.Flush(m.Context()) })
	}
}

// reuse is get with --reuse.
func (m *model) reuse() {
	for path, o := range m.mine {
		if rest, ok := strings.CutPrefix(path, m.out); ok && (rest == "" || rest[0] == '/') {
			o.reused = true
		}
	}
	if see(m.out).mode.Type() != fs.ModeSymlink {
		m.get(m.out, peer.GetOptions{Reuse: true})
	}
}

// getMeanwhile changes something while the content is fetched.
func (m *model) getMeanwhile() {
	done := make(chan struct{})
	m.disk.after(m.rng.IntN(30), func() {
		m.change(filepath.Join(m.out, m.names[m.rng.IntN(len(m.names))]), keepBytes[m.rng.IntN(len(keepBytes))])
		m.mayRepair()
		close(done)
	})
	m.getWith(m.out, peer.GetOptions{}, false)
	if !m.disk.never() {
		<-done
	}
}

// getAtEnd changes something as a get ends, and gets the content again at once.
func (m *model) getAtEnd() {
	m.mayRepair()
	second := make(chan struct{})
	f := func() {
		path := filepath.Join(m.out, m.names[m.rng.IntN(len(m.names))])
		m.change(path, []int{4, 6, 7, 9, 11}[m.rng.IntN(5)])
		got := make(chan struct{})
		go func() {
			defer close(second)
			close(got)
			m.get(m.out, peer.GetOptions{})
		}()
		<-got
		time.Sleep(time.Duration(m.rng.IntN(20)) * time.Millisecond) // it may wait for the end of this one
	}
	m.published.Store(&f)
	m.getWith(m.out, peer.GetOptions{}, false)
	if m.published.Swap(nil) == nil {
		<-second
	}
}

// getKilled kills the node while it fetches.
func (m *model) getKilled() {
	m.disk.after(m.rng.IntN(40), m.disk.kill)
	m.mayRepair()
	link := *m.link
	if t, err := m.node.Get(&link, m.out, peer.GetOptions{}); err == nil {
		_ = wait(m.Context(), t)
	}
	m.disk.never()
	m.restart(true)
}

// restart starts the node again, with or without a kill, and waits until its transfers settle.
func (m *model) restart(kill bool) {
	m.mayRepair()
	if kill {
		m.disk.kill()
		data := m.TempDir()
		check(m, filepath.WalkDir(m.data, func(path string, d fs.DirEntry, err error) error {
			to := filepath.Join(data, strings.TrimPrefix(path, m.data))
			if err == nil && d.IsDir() {
				err = os.MkdirAll(to, 0o700)
			} else if err == nil {
				var b []byte
				if b, err = os.ReadFile(path); err == nil {
					err = os.WriteFile(to, b, 0o600)
				}
			}
			if errors.Is(err, fs.ErrNotExist) { // it was temporary
				return nil
			}
			return err
		}))
		m.data = data
		_ = m.node.Close()
		m.note("killed")
	} else {
		_ = m.call("close", m.node.Close)
	}
	m.start()
	_ = m.call("settle", func() error {
		for _, t := range m.node.Transfers() {
			_ = wait(m.Context(), t)
		}
		return nil
	})
}

// some returns a transfer, nil if there is none.
func (m *model) some() *peer.Transfer {
	all := m.node.Transfers()
	if len(all) == 0 {
		return nil
	}
	return all[m.rng.IntN(len(all))]
}

func (m *model) seed() {
	var t *peer.Transfer
	err := m.call("seed", func() (err error) {
		t, err = m.node.Seed(m.Context(), m.out, peer.SeedOptions{PieceLength: 16 << 10})
		return err
	})
	if err == nil {
		root, err := filepath.EvalSymlinks(t.Status().Root)
		check(m, err)
		m.own(root, false)
	}
}

func (m *model) remove(content bool) {
	if t := m.some(); t != nil {
		_ = m.call(fmt.Sprint("rm, content ", content), func() error {
			left, err := m.node.Remove(t, content)
			if len(left) > 0 {
				m.note("left %v", left)
			}
			return err
		})
	}
}

func (m *model) keep() {
	m.node.SetKeep(peer.Keep{For: time.Hour, Delete: true})
	_ = m.call("keep", func() error {
		peer.EndAll(m.node, time.Now().Add(24*time.Hour))
		return nil
	})
	m.node.SetKeep(peer.Keep{})
}

func (m *model) verify() {
	t := m.some()
	if t == nil {
		return
	}
	m.mayRepair()
	var v *peer.Verification
	err := m.call("verify", func() (err error) {
		v, err = t.Verify(m.Context(), nil)
		return err
	})
	if st := t.Status(); err == nil && v.Intact() && v.Checked == v.Pieces && st.Phase == peer.Whole {
		if d := m.differs(t); d != "" {
			m.Errorf("verify finds %s intact: %s", st.Root, d)
		}
	}
}

func (m *model) stop() {
	if t := m.some(); t != nil {
		_ = m.call("stop", t.Stop)
	}
}

// mortal is a file system that changes nothing any more once it is killed.
type mortal struct {
	vfs.FS
	dead atomic.Bool
	mu   sync.Mutex
	left int // calls until then is called
	then func()
}

func (d *mortal) kill() { d.dead.Store(true) }

// after has f called before one of the next changes.
func (d *mortal) after(calls int, f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.then = calls, f
}

// never takes back what after said. It reports false if f was called.
func (d *mortal) never() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.then != nil
	d.then = nil
	return was
}

// change is called before each change, and fails if the file system was killed.
func (d *mortal) change() error {
	d.mu.Lock()
	var then func()
	if d.left--; d.left < 0 {
		then, d.then = d.then, nil
	}
	d.mu.Unlock()
	if then != nil {
		then()
	}
	if d.dead.Load() {
		return syscall.EIO
	}
	return nil
}

// OpenRoot implements [vfs.FS].
func (d *mortal) OpenRoot(path string) (vfs.Root, error) {
	r, err := d.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return mortalRoot{r, d}, nil
}

// open opens a file.
func (d *mortal) open(flag int, open func() (vfs.File, error)) (vfs.File, error) {
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		if err := d.change(); err != nil {
			return nil, err
		}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return mortalFile{f, d}, nil
}

// OpenFile implements [vfs.FS].
func (d *mortal) OpenFile(path string, flag int, perm fs.FileMode) (vfs.File, error) {
	return d.open(flag, func() (vfs.File, error) { return d.FS.OpenFile(path, flag, perm) })
}

// do makes a change.
func (d *mortal) do(f func() error) error {
	if err := d.change(); err != nil {
		return err
	}
	return f()
}

// Mkdir implements [vfs.FS].
func (d *mortal) Mkdir(path string, perm fs.FileMode) error {
	return d.do(func() error { return d.FS.Mkdir(path, perm) })
}

// MkdirAll implements [vfs.FS].
func (d *mortal) MkdirAll(path string, perm fs.FileMode) error {
	return d.do(func() error { return d.FS.MkdirAll(path, perm) })
}

// Remove implements [vfs.FS].
func (d *mortal) Remove(path string) error { return d.do(func() error { return d.FS.Remove(path) }) }

type mortalRoot struct {
	vfs.Root
	d *mortal
}

// OpenRoot implements [vfs.Root].
func (r mortalRoot) OpenRoot(name string) (vfs.Root, error) {
	in, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return mortalRoot{in, r.d}, nil
}

// OpenFile implements [vfs.Root].
func (r mortalRoot) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return r.d.open(flag, func() (vfs.File, error) { return r.Root.OpenFile(name, flag, perm) })
}

// Mkdir implements [vfs.Root].
func (r mortalRoot) Mkdir(name string, perm fs.FileMode) error {
	return r.d.do(func() error { return r.Root.Mkdir(name, perm) })
}

// MkdirAll implements [vfs.Root].
func (r mortalRoot) MkdirAll(name string, perm fs.FileMode) error {
	return r.d.do(func() error { return r.Root.MkdirAll(name, perm) })
}

// Chmod implements [vfs.Root].
func (r mortalRoot) Chmod(name string, mode fs.FileMode) error {
	return r.d.do(func() error { return r.Root.Chmod(name, mode) })
}

// Chtimes implements [vfs.Root].
func (r mortalRoot) Chtimes(name string, atime, mtime time.Time) error {
	return r.d.do(func() error { return r.Root.Chtimes(name, atime, mtime) })
}

// Symlink implements [vfs.Root].
func (r mortalRoot) Symlink(target, name string) error {
	return r.d.do(func() error { return r.Root.Symlink(target, name) })
}

// Rename implements [vfs.Root].
func (r mortalRoot) Rename(from, to string) error {
	return r.d.do(func() error { return r.Root.Rename(from, to) })
}

// Remove implements [vfs.Root].
func (r mortalRoot) Remove(name string) error {
	return r.d.do(func() error { return r.Root.Remove(name) })
}

type mortalFile struct {
	vfs.File
	d *mortal
}

// WriteAt implements [vfs.File].
func (f mortalFile) WriteAt(p []byte, offset int64) (n int, err error) {
	err = f.d.do(func() (err error) {
		n, err = f.File.WriteAt(p, offset)
		return err
	})
	return n, err
}

// Chmod implements [vfs.File].
func (f mortalFile) Chmod(mode fs.FileMode) error {
	return f.d.do(func() error { return f.File.Chmod(mode) })
}

// SetModTime implements [vfs.File].
func (f mortalFile) SetModTime(t time.Time) (done bool, err error) {
	err = f.d.do(func() (err error) {
		done, err = f.File.SetModTime(t)
		return err
	})
	return done, err
}

// Truncate implements [vfs.File].
func (f mortalFile) Truncate(size int64) error {
	return f.d.do(func() error { return f.File.Truncate(size) })
}

// CopyFrom implements [vfs.File].
func (f mortalFile) CopyFrom(src vfs.File) error {
	return f.d.do(func() error { return f.File.CopyFrom(src.(mortalFile).File) })
}
