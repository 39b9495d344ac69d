package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
)

// Settings of a feed are in the file feed.json.
type Settings struct {
	Link string `json:"link"`
	// Dir is the directory of a follower, empty at the publisher. Keep is [Follower.Keep].
	Dir  string `json:"dir,omitempty"`
	Keep int    `json:"keep,omitempty"`
	// Exec is the command line that is run with each complete version.
	Exec string `json:"exec,omitempty"`
}

// Info describes a feed of a node.
type Info struct {
	Settings
	Name string `json:"name"`
	Status
	// Last is the last complete version, after the end of its command.
	Last *Version `json:"last,omitempty"`
	// Followers has what the followers reported to the publisher.
	Followers []Report `json:"followers,omitempty"`
}

// Feeds are the feeds of a node: those that it publishes, and those that it follows. Its methods may be called from any
// goroutine.
type Feeds struct {
	node *peer.Node
	dir  string
	run  func(ctx context.Context, command string, v Version) error
	log  *slog.Logger

	changing sync.Mutex // held while feeds are started and stopped, which may wait for a command

	mu  sync.Mutex
	all map[string]*entry // by the id of the feed
}

// entry is one feed.
type entry struct {
	dir string

	// Guarded by Feeds.changing.
	cancel context.CancelFunc // nil while it does not run
	done   chan struct{}

	// Guarded by Feeds.mu. They change only while changing is held, too.
	Settings
	link     *Link
	ctx      context.Context // of the run
	follower *Follower       // nil at the publisher
	group    *group.Group    // of a publisher that runs
	joined   time.Time       // when the publisher's group was joined, zero for a new feed
	ended    error           // why the run has ended, nil while it runs

	last    atomic.Pointer[Version] // see [Info]
	reports Reports

	newest  atomic.Pointer[Head] // of a publisher
	posting sync.Mutex           // held while newest changes; guards what follows
	delta   *peer.Transfer       // of the newest head
}

const (
	settingsFile = "feed.json"
	headFile     = "head"  // of a publisher: the signed head of the newest version
	deltaFile    = "delta" // of a publisher: the delta of the newest version, if it has one
)

// Open reads the feeds in a data directory. None of them runs. Run runs the command of a follower.
func Open(n *peer.Node, data string, run func(ctx context.Context, command string, v Version) error, log *slog.Logger) (*Feeds, error) {
	s := &Feeds{node: n, dir: filepath.Join(data, "feeds"), run: run, log: log, all: map[string]*entry{}}
	found, err := filepath.Glob(filepath.Join(s.dir, "*", settingsFile))
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		e := &entry{dir: filepath.Dir(path)}
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &e.Settings)
		}
		if err == nil {
			e.link, err = ParseLink(e.Link)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.all[e.link.ID()] = e
	}
	return s, nil
}

// StartAll starts all feeds. Those that fail are in the log.
func (s *Feeds) StartAll() {
	s.changing.Lock()
	defer s.changing.Unlock()
	for id, e := range s.all {
		if err := s.start(e); err != nil {
			s.log.Error("a feed does not start", "feed", id, "error", err)
		}
	}
}

// Close ends all feeds, and waits for that.
func (s *Feeds) Close() {
	s.changing.Lock()
	defer s.changing.Unlock()
	var all sync.WaitGroup
	for _, e := range s.all {
		all.Go(e.stop)
	}
	all.Wait()
}

// New makes the key of a new feed.
func (s *Feeds) New(name string, l *Link) error {
	key, public, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	l.Key, l.Name = public, name
	if _, err := ParseLink(l.String()); err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	for _, e := range s.all {
		if e.Dir == "" && e.link.Name == name {
			return fmt.Errorf("this node publishes a feed called %s already", name)
		}
	}
	e := &entry{Settings: Settings{Link: l.String()}, link: l, dir: filepath.Join(s.dir, l.ID())}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	if err := errors.Join(datadir.SaveKey(e.dir, key), e.save()); err != nil {
		return err
	}
	s.set(e, e.Settings, l)
	if err := s.start(e); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.joined = time.Time{} // no member has a version
	return nil
}

// Follow starts to follow a feed, or changes how it is followed.
func (s *Feeds) Follow(settings Settings) error {
	l, err := ParseLink(settings.Link)
	if err != nil {
		return err
	}
	settings.Dir, settings.Keep = filepath.Clean(settings.Dir), max(settings.Keep, 1)
	s.changing.Lock()
	defer s.changing.Unlock()
	for id, other := range s.all {
		if id != l.ID() && other.Dir == settings.Dir {
			return fmt.Errorf("%s has the versions of the feed %s: choose another directory", other.Dir, cmp.Or(other.link.Name, id))
		}
	}
	e := s.all[l.ID()]
	switch {
	case e == nil:
		e = &entry{dir: filepath.Join(s.dir, l.ID())}
	case e.Dir == "":
		return errors.New("this node publishes the feed")
	case e.Dir != settings.Dir:
		return fmt.Errorf("this node follows the feed in %s: `mob feed rm` it first", e.Dir)
	case e.Settings == settings && s.runs(e):
		return nil
	}
	e.stop()
	s.set(e, settings, l)
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	if err := e.save(); err != nil {
		return err
	}
	return s.start(e)
}

// set sets the settings of a feed, which may be new.
func (s *Feeds) set(e *entry, settings Settings, l *Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Settings, e.link = settings, l
	s.all[l.ID()] = e
}

// Remove forgets a feed that is named by its name, id or link. The versions stay.
func (s *Feeds) Remove(name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	e, err := s.find(name)
	if err != nil {
		return err
	}
	e.stop()
	s.mu.Lock()
	delete(s.all, e.link.ID())
	s.mu.Unlock()
	e.posting.Lock()
	defer e.posting.Unlock()
	return errors.Join(s.replaceDelta(e, nil), os.RemoveAll(e.dir))
}

// replaceDelta releases the delta that a publisher serves. The caller holds e.posting.
func (s *Feeds) replaceDelta(e *entry, next *peer.Transfer) error {
	old := e.delta
	e.delta = next
	if old == nil {
		return nil
	}
	return s.node.Release(old)
}

// publisher returns a feed that this node publishes. It starts the feed if it does not run.
func (s *Feeds) publisher(name string) (*entry, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	e, err := s.find(name)
	switch {
	case err != nil:
		return nil, err
	case e.Dir != "":
		return nil, fmt.Errorf("this node follows %s, and does not publish it", e.link.Name)
	case !s.runs(e):
		e.stop()
		return e, s.start(e)
	}
	return e, nil
}

// joinWait is the time in which a publisher that has started gets a newer head from the group, if it lost its own.
const joinWait = 2 * time.Second

// Post publishes a complete transfer as the next version of a feed.
func (s *Feeds) Post(ctx context.Context, name string, v *peer.Transfer, opt PublishOptions) (*Head, error) {
	e, err := s.publisher(name)
	if err != nil {
		return nil, err
	}
	key, err := datadir.LoadKey(e.dir)
	if err != nil {
		return nil, err
	}
	if !key.GetPublic().Equals(e.link.Key) {
		return nil, fmt.Errorf("%s has another key than the feed: put the feed's key back", e.dir)
	}
	s.mu.Lock()
	run, g, joined := e.ctx, e.group, e.joined
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(run, cancel)()
	select {
	case <-time.After(time.Until(joined.Add(joinWait))):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	e.posting.Lock()
	defer e.posting.Unlock()
	if before := e.newest.Load(); before != nil {
		opt.Base, _ = s.node.Transfer(before.Link.String()) // nil if it was removed
	}
	opt.DeltaFile, opt.Record = filepath.Join(e.dir, deltaFile), e.record
	h, difference, err := Publish(ctx, g, key, v, opt)
	if difference != nil {
		err = errors.Join(err, s.replaceDelta(e, difference))
	}
	return h, err
}

// record writes the head of the newest version.
func (e *entry) record(h *Head) error {
	if err := datadir.WriteFile(filepath.Join(e.dir, headFile), h.signed, 0o600); err != nil {
		return err
	}
	e.newest.Store(h)
	return nil
}

// All describes the feeds, sorted by name.
func (s *Feeds) All() (all []Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.all {
		info := Info{Settings: e.Settings, Name: cmp.Or(e.link.Name, e.link.ID()), Last: e.last.Load()}
		switch {
		case e.follower != nil:
			info.Status = e.follower.Status()
		case e.group != nil:
			info.Followers = e.reports.All(e.group)
			info.Members = len(info.Followers)
			if h := e.newest.Load(); h != nil {
				info.Newest, info.Complete = h.Seq, h.Seq
			}
		}
		if e.ended != nil {
			info.Error = "it has ended: " + e.ended.Error()
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Link, b.Link)) })
	return all
}

// find finds a feed by its name, id or link.
func (s *Feeds) find(name string) (found *entry, err error) {
	if l, err := ParseLink(name); err == nil {
		name = l.ID()
	}
	if e := s.all[name]; e != nil {
		return e, nil
	}
	for _, e := range s.all {
		if e.link.Name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("two feeds are called %s: give the link", name)
		}
		found = e
	}
	if found == nil {
		names := slices.Sorted(maps.Keys(s.all))
		return nil, fmt.Errorf("this node has no feed called %s (%d feeds: see `mob status`)", name, len(names))
	}
	return found, nil
}

// save writes the settings.
func (e *entry) save() error {
	b, err := json.MarshalIndent(e.Settings, "", "\t")
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(e.dir, settingsFile), b, 0o600)
}

// runs reports whether a feed runs. The caller holds s.changing.
func (s *Feeds) runs(e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.cancel != nil && e.ended == nil
}

// start starts a feed. The caller holds s.changing.
func (s *Feeds) start(e *entry) error {
	ctx, cancel := context.WithCancel(context.Background())
	log := s.log.With("feed", e.link.ID())
	var (
		f *Follower
		g *group.Group
	)
	work := func() error {
		defer g.Close()
		s.serveDelta(ctx, e)
		return s.collect(ctx, e, g)
	}
	if e.Dir == "" {
		var err error
		if g, err = s.open(ctx, e); err != nil {
			cancel()
			return err
		}
	} else {
		f = &Follower{Node: s.node, Link: e.link, Dir: e.Dir, Keep: e.Keep, State: e.dir, Log: log}
		command := e.Exec
		f.Complete = func(ctx context.Context, v Version) (err error) {
			log.Info("a version is complete", "version", v.Seq, "path", v.Path, "bytes", v.Length, "saved", v.Saved)
			if command != "" {
				if err = s.run(ctx, command, v); err != nil {
					err = fmt.Errorf("the command of version %d failed: %w", v.Seq, err)
				}
			}
			e.last.Store(&v)
			return err
		}
		work = func() error { return f.Run(ctx) }
	}
	done := make(chan struct{})
	e.cancel, e.done = cancel, done
	s.mu.Lock()
	e.ctx, e.follower, e.group, e.joined, e.ended = ctx, f, g, time.Now(), nil
	s.mu.Unlock()
	go func() {
		defer close(done)
		defer cancel()
		err := work()
		if ctx.Err() != nil {
			return
		}
		log.Error("the feed has ended", "error", err)
		s.mu.Lock()
		e.ended = cmp.Or(err, errEnded)
		s.mu.Unlock()
	}()
	return nil
}

var errEnded = errors.New("the node closes")

// collect receives the messages of a publisher's group until ctx ends.
func (s *Feeds) collect(ctx context.Context, e *entry, g *group.Group) error {
	for {
		m, err := g.Receive(ctx)
		if err != nil {
			return err
		}
		signed, ok := headOf(m.Bytes)
		if !ok {
			e.reports.add(&m, e.newest.Load())
			continue
		}
		if err := e.adopt(g, signed); err != nil {
			return err
		}
	}
}

// adopt takes over a head that is newer than the publisher's own, which was lost: the number is not to be signed again.
func (e *entry) adopt(g *group.Group, signed []byte) error {
	h, err := openHead(signed, e.link.Key)
	if err != nil {
		return nil // not the publisher's
	}
	e.posting.Lock()
	defer e.posting.Unlock()
	if own := e.newest.Load(); own != nil && own.Seq >= h.Seq {
		return nil
	}
	if err := e.record(h); err != nil {
		return err
	}
	g.SetNewest(headMessage(h))
	return nil
}

// open joins the group of a feed that this node publishes.
func (s *Feeds) open(ctx context.Context, e *entry) (*group.Group, error) {
	signed, err := os.ReadFile(filepath.Join(e.dir, headFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	g, err := group.Join(ctx, s.node, group.Config{Key: GroupKey(e.link.Key), Trackers: e.link.Trackers})
	if err != nil || signed == nil {
		return g, err
	}
	h, err := openHead(signed, e.link.Key)
	if err != nil { // Publish fails until the group sends a valid one
		g.SetNewest(append([]byte{kindHead}, signed...))
		return g, nil
	}
	g.SetNewest(headMessage(h))
	e.newest.Store(h)
	return g, nil
}

// serveDelta serves the delta of the newest version again after a restart.
func (s *Feeds) serveDelta(ctx context.Context, e *entry) {
	e.posting.Lock()
	defer e.posting.Unlock()
	h := e.newest.Load()
	if h == nil || h.Delta == nil || e.delta != nil {
		return
	}
	t, err := seedAgain(ctx, s.node, h, filepath.Join(e.dir, deltaFile))
	if err != nil {
		s.log.Warn("the delta of the newest version is not served: followers fetch pieces", "feed", e.link.ID(), "error", err)
		return
	}
	e.delta = t
}

// stop ends a feed that runs, and waits for that. The caller holds [Feeds.changing].
func (e *entry) stop() {
	if e.cancel == nil {
		return
	}
	e.cancel()
	<-e.done
	e.cancel = nil
}
