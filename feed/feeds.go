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

	mu  sync.Mutex
	all map[string]*entry // by the id of the feed
}

// entry is one feed.
type entry struct {
	Settings
	link   *Link
	dir    string
	cancel context.CancelFunc // nil while it does not run
	done   chan struct{}

	follower *Follower               // nil at the publisher
	last     atomic.Pointer[Version] // see [Info]

	posting sync.Mutex
	group   *group.Group // of a publisher that runs
	reports Reports
	delta   *peer.Transfer
}

const (
	settingsFile = "feed.json"
	headFile     = "head" // of a publisher: the signed head of the newest version
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.all {
		if err := s.start(e); err != nil {
			s.log.Error("a feed does not start", "feed", id, "error", err)
		}
	}
}

// Close ends all feeds, and waits for that.
func (s *Feeds) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.all {
		e.stop()
	}
}

// New makes the key of a new feed.
func (s *Feeds) New(name string, l *Link) error {
	key, public, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	l.Key, l.Name = public, name
	s.mu.Lock()
	defer s.mu.Unlock()
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
	s.all[l.ID()] = e
	return s.start(e)
}

// Follow starts to follow a feed, or changes how it is followed.
func (s *Feeds) Follow(settings Settings) error {
	l, err := ParseLink(settings.Link)
	if err != nil {
		return err
	}
	settings.Keep = max(settings.Keep, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.all[l.ID()]
	switch {
	case e == nil:
		e = &entry{dir: filepath.Join(s.dir, l.ID())}
	case e.Dir == "":
		return errors.New("this node publishes the feed")
	case e.Dir != settings.Dir:
		return fmt.Errorf("this node follows the feed in %s: `mob feed rm` it first", e.Dir)
	}
	e.stop()
	e.Settings, e.link = settings, l
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	if err := e.save(); err != nil {
		return err
	}
	s.all[l.ID()] = e
	return s.start(e)
}

// Remove forgets a feed that is named by its name, id or link. The versions stay.
func (s *Feeds) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if err != nil {
		return err
	}
	e.stop()
	delete(s.all, e.link.ID())
	return os.RemoveAll(e.dir)
}

// Post publishes a complete transfer as the next version of a feed.
func (s *Feeds) Post(ctx context.Context, name string, v *peer.Transfer, opt PublishOptions) (*Head, error) {
	s.mu.Lock()
	e, err := s.find(name)
	if err == nil && e.Dir != "" {
		err = fmt.Errorf("this node follows %s, and does not publish it", e.link.Name)
	}
	if err == nil && e.cancel == nil {
		err = s.start(e)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	key, err := datadir.LoadKey(e.dir)
	if err != nil {
		return nil, err
	}
	e.posting.Lock()
	defer e.posting.Unlock()
	if signed, ok := headOf(e.group.Newest()); ok {
		if before, err := openHead(signed, e.link.Key); err == nil {
			opt.Base, _ = s.node.Transfer(before.Link.String()) // nil if it was removed
		}
	}
	opt.Record = func(signed []byte) error { return datadir.WriteFile(filepath.Join(e.dir, headFile), signed, 0o600) }
	h, difference, err := Publish(ctx, e.group, key, v, opt)
	if difference != nil {
		if e.delta != nil {
			err = errors.Join(err, s.node.Release(e.delta))
		}
		e.delta = difference
	}
	return h, err
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
			if signed, ok := headOf(e.group.Newest()); ok {
				if h, err := openHead(signed, e.link.Key); err == nil {
					info.Newest, info.Complete = h.Seq, h.Seq
				}
			}
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

// start starts a feed.
func (s *Feeds) start(e *entry) error {
	ctx, cancel := context.WithCancel(context.Background())
	log := s.log.With("feed", e.link.ID())
	var work func() error
	if e.Dir == "" {
		g, err := s.open(ctx, e)
		if err != nil {
			cancel()
			return err
		}
		e.group = g
		work = func() error {
			defer g.Close()
			return e.reports.Collect(ctx, g)
		}
	} else {
		f := &Follower{Node: s.node, Link: e.link, Dir: e.Dir, Keep: e.Keep, State: e.dir, Log: log}
		f.Complete = func(ctx context.Context, v Version) {
			log.Info("a version is complete", "version", v.Seq, "path", v.Path, "bytes", v.Length, "saved", v.Saved)
			if e.Exec != "" {
				if err := s.run(ctx, e.Exec, v); err != nil {
					log.Error("the command of the feed failed", "version", v.Seq, "error", err)
				}
			}
			e.last.Store(&v)
		}
		f.Failed = func(h Head, err error) { log.Error("a version was not fetched", "version", h.Seq, "error", err) }
		e.follower = f
		work = func() error { return f.Run(ctx) }
	}
	done := make(chan struct{})
	e.cancel, e.done = cancel, done
	go func() {
		defer close(done)
		if err := work(); ctx.Err() == nil {
			log.Error("the feed has ended", "error", err)
		}
	}()
	return nil
}

// open joins the group of a feed that this node publishes.
func (s *Feeds) open(ctx context.Context, e *entry) (*group.Group, error) {
	g, err := group.Join(ctx, s.node, group.Config{Key: GroupKey(e.link.Key), Trackers: e.link.Trackers})
	if err != nil {
		return nil, err
	}
	signed, err := os.ReadFile(filepath.Join(e.dir, headFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		g.Close()
		return nil, err
	default:
		g.SetNewest(append([]byte{kindHead}, signed...))
	}
	return g, nil
}

// stop ends a feed that runs, and waits for that.
func (e *entry) stop() {
	if e.cancel == nil {
		return
	}
	e.cancel()
	<-e.done
	e.cancel = nil
}
