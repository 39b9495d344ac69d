package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
)

// Feeds are the feeds of a node: those that it publishes, and those that it follows. Its methods may be called from any
// goroutine.
type Feeds struct {
	node *peer.Node
	dir  string
	run  Run
	log  *slog.Logger

	changing sync.Mutex // held while feeds are started and stopped, which may wait for a command

	mu  sync.Mutex        // guards what follows, which changes only while changing is held, too
	all map[string]*entry // by the id of the feed
}

// Run runs the command of a follower with a complete version.
type Run func(ctx context.Context, command string, v Version) error

// entry is one feed.
type entry struct {
	Settings
	link *Link
	dir  string
	role role            // nil if it does not run
	err  error           // why it did not start
	stop func()          // ends role, and waits for that
	ctx  context.Context // ends with role
}

// role is a publisher or a follower of a feed.
type role interface {
	run(ctx context.Context) // until ctx ends
	describe(*Info)
}

const settingsFile = "feed.json"

// Open reads the feeds in a data directory. None of them runs.
func Open(n *peer.Node, data string, run Run, log *slog.Logger) (*Feeds, error) {
	s := &Feeds{node: n, dir: filepath.Join(data, "feeds"), run: run, log: n.Names().Logger(log), all: map[string]*entry{}}
	found, _ := fs.Glob(os.DirFS(s.dir), "*/"+settingsFile) // the pattern is valid; the directory's path is not part of it
	for _, name := range found {
		path := filepath.Join(s.dir, name)
		var settings Settings
		var l *Link
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &settings)
		}
		if err == nil {
			l, err = ParseLink(settings.Link)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.all[l.ID()] = s.entry(settings, l)
	}
	return s, nil
}

func (s *Feeds) entry(settings Settings, l *Link) *entry {
	return &entry{Settings: settings, link: l, dir: filepath.Join(s.dir, l.ID()), stop: func() {}}
}

// StartAll starts all feeds. Those that fail are in the log.
func (s *Feeds) StartAll() {
	s.changing.Lock()
	defer s.changing.Unlock()
	for _, e := range s.all {
		if err := s.start(e); err != nil {
			s.log.Error("a feed does not start", "feed", s.shortName(e), "name", e.link.Name, "error", err)
		}
	}
}

// shortName returns the name of a feed in the log: with its id anyone can follow it.
func (s *Feeds) shortName(e *entry) string { return s.node.Names().OfFeed(idOf(e.link.Key)) }

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
			return fmt.Errorf("this node publishes a feed called %s already: `mob status --json` has its link", name)
		}
	}
	e := s.entry(Settings{Link: l.String()}, l)
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	if err := datadir.SaveKey(e.dir, key); err != nil {
		return err
	}
	if err := s.put(e); err != nil {
		return err
	}
	e.role.(*publisher).joined = time.Time{} // no member has a version
	return nil
}

// Follow starts to follow a feed, or changes how it is followed. It fails if no version can be written to the directory.
func (s *Feeds) Follow(settings Settings) error {
	l, err := ParseLink(settings.Link)
	if err != nil {
		return err
	}
	settings.Dir, settings.Keep = filepath.Clean(settings.Dir), max(settings.Keep, 1)
	s.changing.Lock()
	defer s.changing.Unlock()
	for id, other := range s.all {
		if id != l.ID() && sameDirectory(other.Dir, settings.Dir) {
			return fmt.Errorf("%s has the versions of the feed %s: choose another directory", other.Dir, cmp.Or(other.link.Name, id))
		}
	}
	e := s.all[l.ID()]
	switch {
	case e == nil:
	case e.Dir == "":
		return errors.New("this node publishes the feed")
	case e.Dir != settings.Dir:
		return fmt.Errorf("this node follows the feed in %s: `mob feed rm` it first", e.Dir)
	}
	if err := makeDirectory(s.node, settings.Dir); err != nil {
		return err
	}
	if e != nil && e.Settings == settings && e.role != nil {
		return nil
	}
	return s.put(s.entry(settings, l))
}

// put saves the settings of a feed, and starts it instead of one with earlier settings.
func (s *Feeds) put(e *entry) error {
	b, err := json.MarshalIndent(e.Settings, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	if err := datadir.WriteFile(filepath.Join(e.dir, settingsFile), b, 0o600); err != nil {
		return err
	}
	if before := s.all[e.link.ID()]; before != nil {
		before.stop()
	}
	s.mu.Lock()
	s.all[e.link.ID()] = e
	s.mu.Unlock()
	return s.start(e)
}

// start starts a feed. The caller holds s.changing.
func (s *Feeds) start(e *entry) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var r role
	defer func() {
		if err != nil {
			cancel()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		e.role, e.err, e.ctx = r, err, ctx
	}()
	h := &heads{key: e.link.Key, log: s.log.With("feed", s.shortName(e), "name", e.link.Name)}
	if e.Dir == "" {
		r, err = newPublisher(h, s.node, e.dir)
	} else {
		r, err = newFollower(h, s.node, e, s.run)
	}
	if err == nil {
		err = h.join(ctx, s.node, e.link.Trackers)
	}
	if err != nil {
		r = nil
		return err
	}
	done := make(chan struct{})
	e.stop = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		defer h.group.Close()
		r.run(ctx)
	}()
	return nil
}

// Remove forgets a feed that is named by its name, id or link. The versions stay, and the newest one is served.
func (s *Feeds) Remove(name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	e, err := s.find(name)
	if err != nil {
		return err
	}
	e.stop()
	if f, ok := e.role.(*follower); ok {
		f.serve(f.known())
	}
	s.mu.Lock()
	delete(s.all, e.link.ID())
	s.mu.Unlock()
	return os.RemoveAll(e.dir)
}

// Post publishes a complete transfer as the next version of a feed. It starts the feed if it does not run.
func (s *Feeds) Post(ctx context.Context, name string, v *peer.Transfer, opt PublishOptions) (*Head, error) {
	s.changing.Lock()
	e, err := s.find(name)
	switch {
	case err != nil:
	case e.Dir != "":
		err = fmt.Errorf("this node follows %s, and does not publish it", e.link.Name)
	case e.role == nil:
		err = s.start(e)
	}
	s.changing.Unlock()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)() // the end of the feed waits for a post
	h, err := e.role.(*publisher).post(ctx, v, opt)
	if err != nil && e.ctx.Err() != nil {
		err = errors.New("the node shuts down, or the feed was removed: post again")
	}
	return h, err
}

// find is Find for the feeds of the node. The caller holds s.changing.
func (s *Feeds) find(name string) (*entry, error) {
	info, err := Find(s.All(), name)
	if err != nil {
		return nil, err
	}
	l, err := ParseLink(info.Link)
	return s.all[l.ID()], err
}
