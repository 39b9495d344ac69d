package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/feed/delta"
	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Version is a complete version of a feed at a follower.
type Version struct {
	Seq  uint64 `json:"version"`
	ID   string `json:"id"`
	Path string `json:"path"`
	Note string `json:"note,omitempty"`
	// Length is the size of the content, Saved the part of it that was not fetched, both in bytes.
	Length int64 `json:"length"`
	Saved  int64 `json:"saved"`

	dir   uint64       // name of the directory, which may be an older version's
	flush func() error // waits until the version is on the disk, and closes its store; nil if a transfer does that
}

// Follower fetches the versions of a feed to a directory: version 7 is Dir/7, and Dir/latest is a link to the newest complete
// version.
type Follower struct {
	Node *peer.Node
	Link *Link
	Dir  string
	// Keep is the number of complete versions that are kept. Older ones are removed if this follower fetched them. It is at least 1.
	Keep int
	// State is the directory of what the follower must not forget.
	State string
	// Complete is called with each complete version, one at a time. An error is in the status until the next version.
	Complete func(context.Context, Version) error
	Log      *slog.Logger

	mu       sync.Mutex
	status   Status
	group    *group.Group // nil before Run
	reported wireReport   // the last report
	called   time.Time    // when Complete was called, zero after it has returned

	kept  kept
	delta *peer.Transfer // of the last delta, nil for none
}

// Status is the status of a follower or a publisher.
type Status struct {
	// Newest is the newest version that is known, Complete the newest one that is complete here, 0 for none.
	Newest   uint64 `json:"newest"`
	Complete uint64 `json:"complete"`
	// Saved is the number of bytes of all versions that were not fetched, since the follower was set up.
	Saved   int64  `json:"saved"`
	Members int    `json:"members"` // of the group, without this node
	Error   string `json:"error,omitempty"`
}

// kept is on the disk.
type kept struct {
	Head     []byte   `json:"head,omitempty"`    // signed, of the newest version
	Versions []uint64 `json:"versions"`          // that it fetched and has not removed, in the order in which they were complete
	Partial  []uint64 `json:"partial,omitempty"` // incomplete
	Complete uint64   `json:"complete"`          // the newest complete version
	Saved    int64    `json:"saved"`
	Last     int64    `json:"last_saved"` // of the newest complete version
}

// followerFile has what a follower keeps.
const followerFile = "follower.json"

// Status returns a copy of the status.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.status
	if running := time.Since(f.called); !f.called.IsZero() && running > slowCommand {
		st.Error = fmt.Sprintf("the command of version %d has run for %v, and newer versions wait for it", st.Newest, running.Round(time.Second))
	}
	if f.group != nil {
		st.Members = len(f.group.Members())
	}
	return st
}

// setStatus changes the status.
func (f *Follower) setStatus(change func(*Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.status)
}

// Run follows the feed until ctx ends, and returns its cause. It fails if the state or the directory cannot be used.
func (f *Follower) Run(ctx context.Context) error {
	if err := errors.Join(os.MkdirAll(f.State, 0o700), os.MkdirAll(f.Dir, 0o777)); err != nil {
		return err
	}
	if err := f.load(); err != nil {
		return err
	}
	g, err := group.Join(ctx, f.Node, group.Config{Key: GroupKey(f.Link.Key), Trackers: f.Link.Trackers})
	if err != nil {
		return err
	}
	defer g.Close()
	defer func() {
		if err := f.releaseDelta(); err != nil {
			f.Log.Warn("the transfer of a delta was not removed", "error", err)
		}
	}()
	f.mu.Lock()
	f.group = g
	f.mu.Unlock()
	head := Head{Link: &proto.Link{}}
	if f.kept.Head != nil {
		h, err := openHead(f.kept.Head, f.Link.Key)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(f.State, followerFile), err)
		}
		g.SetNewest(headMessage(h))
		head = *h
	}
	follow := newFollowing(g, f.Link.Key, head.Seq, f.Log)
	follow.met = func(publisher libpeer.ID) { f.report(ctx, publisher) }
	heads, err := follow.start(ctx)
	if err != nil {
		return err
	}
	for ok := true; ok; {
		f.setStatus(func(s *Status) { s.Newest, s.Error = head.Seq, "" })
		head, ok = f.next(ctx, head, heads)
	}
	return context.Cause(ctx)
}

const (
	// slowCommand is the time until the status has a command that runs.
	slowCommand = 10 * time.Second
	// retryPause is the first time between two tries to fetch a version. It doubles up to maxRetryPause.
	retryPause    = time.Second
	maxRetryPause = time.Minute
)

// next fetches a version until it is complete, and returns the head that follows, if there is one. A newer head ends the fetch.
func (f *Follower) next(ctx context.Context, h Head, heads <-chan Head) (next Head, ok bool) {
	for pause := retryPause; h.Seq > f.kept.Complete; pause = min(2*pause, maxRetryPause) {
		fetching, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		var v Version
		go func() {
			var err error
			v, err = f.fetch(fetching, &h)
			done <- err
		}()
		var err error
		select {
		case next, ok = <-heads:
			cancel()
			err := <-done
			if err == nil && v.flush != nil {
				err = v.flush()
			}
			f.Log.Debug("a newer version ends the fetch of another", "version", h.Seq, "error", err)
			return next, ok
		case err = <-done:
			cancel()
		}
		if err == nil {
			err = f.finish(ctx, &h, v)
		}
		if ctx.Err() != nil {
			return Head{}, false
		}
		if err == nil {
			break
		}
		f.setStatus(func(s *Status) { s.Error = err.Error() })
		f.Log.Error("a version was not fetched", "version", h.Seq, "error", err, "retry_after", pause)
		select {
		case next, ok = <-heads:
			return next, ok
		case <-time.After(pause):
		}
	}
	select {
	case next, ok = <-heads:
		return next, ok
	case <-time.After(serveDelay):
		f.serve(&h)
	}
	next, ok = <-heads
	return next, ok
}

// finish calls Complete with a version, and records it. If ctx ends before that, Complete is called again after a restart.
func (f *Follower) finish(ctx context.Context, h *Head, v Version) error {
	flush := v.flush
	v.flush = nil
	failed := f.call(ctx, v)
	if flush != nil {
		if err := flush(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return f.save()
	}
	if err := f.settle(h, v); err != nil {
		f.Log.Warn("a complete version was not recorded", "version", h.Seq, "error", err)
	}
	f.report(ctx, h.node)
	if failed != nil {
		f.setStatus(func(s *Status) { s.Error = failed.Error() })
		f.Log.Error("a command of the feed failed", "version", h.Seq, "error", failed)
	}
	return nil
}

// call calls Complete. The status has the time.
func (f *Follower) call(ctx context.Context, v Version) error {
	set := func(t time.Time) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.called = t
	}
	set(time.Now())
	defer set(time.Time{})
	return f.Complete(ctx, v)
}

// report reports the newest complete version to the publisher, if there is one.
func (f *Follower) report(ctx context.Context, publisher libpeer.ID) {
	f.mu.Lock()
	report, g := f.reported, f.group
	f.mu.Unlock()
	if report.Seq == 0 {
		return
	}
	if err := report.send(ctx, g, publisher); err != nil {
		f.Log.Info("the publisher does not know that a version is complete", "version", report.Seq, "error", err)
	}
}

// fetch fetches a version, and switches the link.
func (f *Follower) fetch(ctx context.Context, h *Head) (v Version, err error) {
	encoded := h.Manifest
	if len(encoded) == 0 {
		d, err := f.Node.Describe(ctx, h.Link, func(string) {})
		if err != nil {
			return v, err
		}
		if encoded, err = d.EncodedManifest(); err != nil {
			return v, err
		}
	}
	m, err := proto.DecodeVerified(h.Link.Manifest, encoded)
	if err != nil {
		return v, err
	}
	dir, before := h.Seq, peer.Status{}
	if len(h.Inline) == 0 {
		dir, before = f.dirOf(h)
	}
	v = Version{Seq: h.Seq, ID: h.Link.Manifest.String(), Path: f.path(dir), Note: h.Note, Length: m.Length(), dir: dir}
	opt, fetched := peer.GetOptions{Manifest: encoded}, int64(0)
	if before.Phase != peer.Whole {
		if opt.Origins, fetched, err = f.origins(ctx, h, m, dir); err != nil {
			return v, err
		}
		fetched += before.Have
	}
	isNew := !slices.Contains(f.kept.Versions, dir) && !slices.Contains(f.kept.Partial, dir)
	if isNew {
		f.dropPartial(maxPartial - 1)
		f.kept.Head, f.kept.Partial = h.signed, append(f.kept.Partial, dir)
	}
	if len(h.Inline) > 0 {
		if v.flush, err = f.copyVersion(ctx, m, inline{m, h.Inline}, dir); err == nil {
			v.Saved = v.Length
			return v, f.switchTo(dir)
		}
		f.Log.Warn("a version is fetched, since the content that was sent is not used", "version", h.Seq, "error", err)
	}
	if err := f.save(); err != nil {
		return v, err
	}
	t, err := f.Node.Get(h.Link, v.Path, opt)
	var elsewhere *peer.ElsewhereError
	if errors.As(err, &elsewhere) && elsewhere.Root != "" {
		if v.flush, err = f.copyOther(ctx, h.Link, m, dir); err == nil {
			v.Saved = v.Length
			return v, f.switchTo(dir)
		}
	}
	if err != nil {
		if isNew { // the path is not the follower's
			f.kept.Partial = f.kept.Partial[:len(f.kept.Partial)-1]
		}
		return v, err
	}
	if err := t.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, t.Stop())
		}
		return v, err
	}
	st := t.Status()
	received := st.Traffic.WANIn + st.Traffic.LANIn
	if earlier := before.Traffic.WANIn + before.Traffic.LANIn; earlier <= received { // it is the same run
		received -= earlier
	}
	v.Saved = max(0, st.Length-received-fetched)
	return v, f.switchTo(dir)
}

// copyOther waits for the transfer of a version at another path, and copies it.
func (f *Follower) copyOther(ctx context.Context, link *proto.Link, m *proto.Manifest, dir uint64) (flush func() error, err error) {
	t, err := f.Node.Transfer(link.String())
	if err != nil {
		return nil, err
	}
	if err := t.Wait(ctx); err != nil {
		return nil, err
	}
	return f.copyVersion(ctx, m, delta.NewBase(m, opener(t.Status().Root)), dir)
}

// dirOf returns the name of the directory of a version, and the status of the transfer there, if there is one: an older version
// may have been fetched with the same content.
func (f *Follower) dirOf(h *Head) (uint64, peer.Status) {
	if t, err := f.Node.Transfer(h.Link.String()); err == nil {
		st := t.Status()
		for _, seq := range slices.Concat(f.kept.Versions, f.kept.Partial) {
			if st.Root == f.path(seq) {
				return seq, st
			}
		}
	}
	return h.Seq, peer.Status{}
}

// switchTo makes a version the latest.
func (f *Follower) switchTo(dir uint64) error {
	return switchLink(filepath.Join(f.Dir, "latest"), strconv.FormatUint(dir, 10))
}

// settle records a complete version, and removes old ones.
func (f *Follower) settle(h *Head, v Version) error {
	is := func(seq uint64) bool { return seq == v.dir }
	f.kept.Versions = append(slices.DeleteFunc(f.kept.Versions, is), v.dir)
	f.kept.Partial = slices.DeleteFunc(f.kept.Partial, is)
	f.kept.Head, f.kept.Complete, f.kept.Saved, f.kept.Last = h.signed, h.Seq, f.kept.Saved+v.Saved, v.Saved
	old := max(0, len(f.kept.Versions)-f.Keep)
	f.removeAll(f.kept.Versions[:old])
	f.kept.Versions = f.kept.Versions[old:]
	f.dropPartial(0)
	err := f.save()
	f.showKept()
	return err
}

// maxPartial bounds the incomplete versions on the disk, if new ones come faster than they are fetched.
const maxPartial = 3

// dropPartial removes the oldest incomplete versions, except n.
func (f *Follower) dropPartial(n int) {
	old := max(0, len(f.kept.Partial)-n)
	f.removeAll(f.kept.Partial[:old])
	f.kept.Partial = f.kept.Partial[old:]
}

// removeAll removes versions. Those that cannot be removed are in the log.
func (f *Follower) removeAll(versions []uint64) {
	for _, seq := range versions {
		if err := f.remove(seq); err != nil {
			f.Log.Warn("an old version was not removed", "path", f.path(seq), "error", err)
		}
	}
}

// remove removes a version as far as this node made it.
func (f *Follower) remove(seq uint64) error {
	remove := func() ([]store.Left, error) { return f.removeCopy(seq) }
	for _, t := range f.Node.Transfers() {
		if t.Progress().Root == f.path(seq) {
			remove = func() ([]store.Left, error) { return f.removeServed(t, seq) }
		}
	}
	left, err := remove()
	if len(left) > 0 {
		f.Log.Info("files of an old version stay, since they are not the follower's or were changed", "path", f.path(seq), "files", len(left))
	}
	return err
}

func (f *Follower) path(seq uint64) string { return filepath.Join(f.Dir, strconv.FormatUint(seq, 10)) }

// load reads what the follower kept.
func (f *Follower) load() error {
	path := filepath.Join(f.State, followerFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		b, err = []byte("{}"), nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f.kept)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	copies, err := f.copies()
	for _, seq := range copies { // incomplete when the process was killed
		if !slices.Contains(f.kept.Versions, seq) && !slices.Contains(f.kept.Partial, seq) {
			f.kept.Partial = append(f.kept.Partial, seq)
		}
	}
	f.showKept()
	return err
}

// showKept sets the status to the state on the disk.
func (f *Follower) showKept() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.Newest = max(f.status.Newest, f.kept.Complete)
	f.status.Complete, f.status.Saved = f.kept.Complete, f.kept.Saved
	f.reported = wireReport{Seq: f.kept.Complete, Saved: f.kept.Last}
}

func (f *Follower) save() error {
	b, err := json.Marshal(&f.kept)
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(f.State, followerFile), b, 0o600)
}
