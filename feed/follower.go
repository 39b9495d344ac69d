package feed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

// follower fetches the versions of a feed to a directory: version 7 is dir/7, and dir/latest is a link to the newest complete
// version.
type follower struct {
	*heads
	node  *peer.Node
	dir   string
	keep  int
	state string // directory of what it must not forget
	// command runs the command with a complete version.
	command func(context.Context, Version) error

	offered chan *Head    // has the newest head until it is taken, see offer
	left    chan struct{} // has a token if the publisher has left
	pushed  uint64        // the last version whose content was offered; for handle

	// What follows is guarded by heads.mu. Only follow changes it.
	kept   kept
	failed string    // the error of the last version, or why its manifest is not here
	called time.Time // when the command was called, zero after it has ended
	calls  uint64    // the version that it was called with
	last   *Version  // the last complete version, after the end of its command

	delta *fetchedDelta // the last delta, nil for none
	full  bool          // the disk was full at the last try to fetch a version
}

// kept is on the disk.
type kept struct {
	Head []byte `json:"head,omitempty"` // signed, of the newest version
	// Versions lists the versions on the disk, in ascending order: complete ones up to Complete, and then incomplete ones.
	Versions []uint64          `json:"versions"`
	IDs      map[uint64]string `json:"ids,omitempty"` // content ids of Versions
	Complete uint64            `json:"complete"`
	Saved    int64             `json:"saved"`
	Last     int64             `json:"last_saved"` // of the newest complete version
}

// followerFile has what a follower keeps.
const followerFile = "follower.json"

func newFollower(h *heads, n *peer.Node, e *entry, run Run) (*follower, error) {
	f := &follower{
		heads: h, node: n, dir: e.Dir, keep: e.Keep, state: e.dir, offered: make(chan *Head, 1), left: make(chan struct{}, 1),
		command: func(ctx context.Context, v Version) error {
			if e.Exec == "" {
				return nil
			}
			return run(ctx, e.Exec, v)
		},
	}
	path := filepath.Join(f.state, followerFile)
	if err := f.load(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// load reads what the follower kept.
func (f *follower) load(path string) error {
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &f.kept)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if f.kept.Head != nil {
		h, err := openHead(f.kept.Head, f.key)
		if err != nil {
			return err
		}
		f.newest = h
	}
	f.kept.Versions = append(f.kept.Versions, f.copies()...) // those that were written when the process was killed are not in the file
	slices.Sort(f.kept.Versions)
	f.kept.Versions = slices.Compact(f.kept.Versions)
	return nil
}

func (f *follower) save() error {
	b, err := json.Marshal(&f.kept)
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(f.state, followerFile), b, 0o600)
}

// describe implements role.
func (f *follower) describe(info *Info) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info.Status = Status{Newest: f.kept.Complete, Complete: f.kept.Complete, Saved: f.kept.Saved, Error: cmp.Or(f.failed, f.fork)}
	if f.newest != nil {
		info.Newest = max(info.Newest, f.newest.Seq)
	}
	if running := time.Since(f.called); !f.called.IsZero() && running > slowCommand {
		info.Error = fmt.Sprintf("the command of version %d has run for %v, and newer versions wait for it", f.calls, running.Round(time.Second))
	}
	info.Members = len(f.group.Members())
	info.Last = f.last
}

// handle handles a message.
func (f *follower) handle(m *group.Message) {
	newest := f.known()
	publisher := newest != nil && m.From == newest.node
	if signed, ok := headOf(m.Bytes); ok {
		if h := f.accept(m.From, signed); h != nil {
			f.offer(h)
		} else if publisher && bytes.Equal(signed, newest.signed) { // its session has started
			f.report(m.From)
		}
		return
	}
	if m.Left && publisher {
		select {
		case f.left <- struct{}{}:
		default:
		}
		return
	}
	// A relay may forge the sender: content that is offered again and again would never be complete.
	if seq, content, ok := contentOf(m.Bytes); ok && newest != nil && seq == newest.Seq && seq != f.pushed {
		if !publisher || !newest.push || newest.Link.Length != int64(len(content)) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.note(slog.LevelWarn, "a member sent content that is not the publisher's", "version", seq, "member", m.From)
			return
		}
		f.pushed = seq
		h := *newest
		h.Inline = content
		f.offer(&h)
	}
}

// offer makes a head the next one to be fetched.
func (f *follower) offer(h *Head) {
	select {
	case <-f.offered:
	default:
	}
	f.offered <- h
}

// report reports the newest complete version to the publisher, if there is one. It does not wait for a session, which it opens if there
// is none: the publisher sends its head when the session starts, and the follower reports again.
func (f *follower) report(publisher libpeer.ID) {
	f.mu.Lock()
	report := wireReport{Seq: f.kept.Complete, Saved: f.kept.Last}
	f.mu.Unlock()
	b, err := proto.EncodeCBOR(report)
	if err != nil || report.Seq == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	_ = f.group.Send(ctx, publisher, append([]byte{kindReport}, b...))
}

const (
	// pushWait bounds the wait for content that is cast after a head.
	pushWait = time.Second
	// slowCommand is the time until the status and the log have a command that runs.
	slowCommand = 10 * time.Second
	// retryPause is the first time between two tries to fetch a version. It doubles up to maxRetryPause.
	retryPause    = time.Second
	maxRetryPause = time.Minute
)

// run implements role.
func (f *follower) run(ctx context.Context) {
	if err := makeDirectory(f.node, f.dir); err != nil {
		f.fail(err, "the directory of the versions cannot be made")
	}
	received := make(chan struct{})
	go func() {
		defer close(received)
		f.receive(ctx, f.handle)
	}()
	f.follow(ctx)
	f.releaseDelta()
	<-received
}

// fail shows an error in the status, until the next success, and in the log.
func (f *follower) fail(err error, message string, args ...any) {
	f.log.Error(message, append(args, "error", err)...) //nolint:sloglint // the messages of the callers are constants
	f.change(func() { f.failed = err.Error() })
}

// change changes what heads.mu guards.
func (f *follower) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// follow fetches each version until it is complete or there is a newer one.
func (f *follower) follow(ctx context.Context) {
	h := f.known()
	for pause := retryPause; ctx.Err() == nil; {
		var wait <-chan time.Time
		left := f.left
		if h != nil && h.Seq > f.kept.Complete {
			newer, err := f.next(ctx, h)
			switch {
			case newer != nil:
				h, pause = f.withContent(ctx, newer), retryPause
				continue
			case err != nil && ctx.Err() == nil:
				f.fail(err, "a version was not fetched", "version", h.Seq, "retry_after", pause)
				wait, left = time.After(pause), nil
				pause = min(2*pause, maxRetryPause)
			}
		}
		if wait == nil && h != nil {
			wait = time.After(serveDelay)
		}
		select {
		case newer := <-f.offered:
			h, pause = f.withContent(ctx, newer), retryPause
		case <-wait:
			f.serve(h)
		case <-left:
			f.serve(h)
		case <-ctx.Done():
		}
	}
}

// withContent waits for the content that the publisher casts after a head.
func (f *follower) withContent(ctx context.Context, h *Head) *Head {
	if !h.push || h.relayed || len(h.Inline) > 0 {
		return h
	}
	select {
	case newer := <-f.offered:
		return f.withContent(ctx, newer)
	case <-time.After(pushWait):
	case <-ctx.Done():
	}
	return h
}

// next fetches a version, and runs the command. A newer head ends the fetch, and is returned.
func (f *follower) next(ctx context.Context, h *Head) (newer *Head, err error) {
	fetching, cancel := context.WithCancel(ctx)
	defer cancel()
	var v *fetched
	done := make(chan struct{})
	go func() {
		defer close(done)
		v, err = f.fetch(fetching, h)
	}()
	select {
	case newer = <-f.offered:
		cancel()
		<-done
		f.log.Debug("a newer version ends the fetch of another", "version", h.Seq, "error", err)
		return newer, v.flush()
	case <-done:
	}
	f.full = errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
	if err != nil {
		return nil, errors.Join(err, v.flush())
	}
	return nil, f.finish(ctx, h, v)
}

// finish runs the command with a version, and records the version. If ctx ends before that, the command runs again after a restart.
func (f *follower) finish(ctx context.Context, h *Head, v *fetched) error {
	f.log.Info("a version is complete", "version", v.Seq, "path", v.Path, "bytes", v.Length, "saved", v.Saved)
	called, end := context.WithCancel(ctx)
	flushed := make(chan error, 1)
	go func() {
		err := errors.Join(v.flush(), f.save())
		if err == nil {
			f.serveDuring(called, h)
		}
		flushed <- err
	}()
	failed := f.call(ctx, v.Version)
	end()
	if err := <-flushed; err != nil || ctx.Err() != nil {
		return err
	}
	f.change(func() { f.failed = "" })
	if failed != nil { // before the version counts as complete
		f.fail(failed, "a command of the feed failed", "version", v.Seq)
	}
	f.settle(h, &v.Version)
	f.report(h.node)
	return nil
}

// call runs the command. The status and the log have one that does not end.
func (f *follower) call(ctx context.Context, v Version) error {
	f.change(func() { f.called, f.calls = time.Now(), v.Seq })
	slow := time.AfterFunc(slowCommand, func() {
		f.log.Warn("the command of a version does not end, and newer versions wait for it", "version", v.Seq)
	})
	defer slow.Stop()
	err := f.command(ctx, v)
	if err != nil {
		err = fmt.Errorf("the command of version %d failed: %w", v.Seq, err)
		v.Error = err.Error()
	}
	f.change(func() { f.called, f.last = time.Time{}, &v })
	return err
}

// VersionPath returns the path of a version in the directory of a follower.
func VersionPath(dir string, seq uint64) string {
	return filepath.Join(dir, strconv.FormatUint(seq, 10))
}

func (f *follower) path(seq uint64) string { return VersionPath(f.dir, seq) }

func (f *follower) latest() string { return filepath.Join(f.dir, "latest") }

// switchTo makes a version the latest.
func (f *follower) switchTo(seq uint64) error {
	return switchLink(f.latest(), strconv.FormatUint(seq, 10))
}
