package cast

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// source is the source of a cast: a file, a directory or a stream.
type source struct {
	cfg  *Config
	node *node
	path string // of a file or directory that is not streamed, absolute

	stream  io.Reader // nil for a file or directory that is not streamed
	sender  *stream.Sender
	records recordLog // of a stream

	// ready is closed when Start messages can be sent. Then start is constant: the fields that are equal for all hosts.
	ready  chan struct{}
	start  agent.Start
	handed atomic.Bool // start contains the content

	mu    sync.Mutex
	first map[string]offer // by cluster

	length, read atomic.Int64 // see [Source]
	droppedBits  atomic.Int64 // see [Result]
}

// streams reports whether the source is a stream: standard input, or a file for a command.
func (c *Config) streams() bool { return c.Output == "" && (c.Source == "-" || c.Exec != "") }

func newSource(cfg *Config, n *node) (*source, error) {
	s := &source{cfg: cfg, node: n, ready: make(chan struct{}), first: map[string]offer{}}
	s.start = agent.Start{Given: cfg.Dest, Force: cfg.Force, Spool: cfg.Spool}
	s.length.Store(-1)
	switch {
	case cfg.Output != "":
		s.start = agent.Start{Serve: cfg.Source, FollowLinks: cfg.FollowLinks}
		s.length.Store(0)
		close(s.ready)
		return s, nil
	case cfg.Source == "-":
		s.stream = cfg.Stdin
	case cfg.Exec != "":
		f, err := os.Open(cfg.Source)
		if err != nil {
			return nil, err
		}
		s.stream = f
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.length.Store(info.Size())
		}
	default:
		info, err := os.Stat(cfg.Source)
		if err != nil {
			return s, err
		}
		s.start.Dir = info.IsDir()
		s.path, err = vfs.Abs(cfg.Source)
		return s, err
	}
	return s, s.startStream()
}

// startStream starts the sender of a stream with a new key.
func (s *source) startStream() error {
	private, public, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	if s.start.Stream, err = crypto.MarshalPublicKey(public); err != nil {
		return err
	}
	s.sender = stream.NewSender(stream.SenderConfig{
		Node:    s.node.Node,
		Key:     private,
		Spool:   s.cfg.Spool,
		Dir:     s.node.dir,
		Publish: s.records.add,
	})
	close(s.ready)
	return nil
}

// run reads the source. It returns when a stream or ctx ends, or the source fails.
func (s *source) run(ctx context.Context) error {
	if s.cfg.Output != "" {
		return nil
	}
	if s.stream == nil {
		return s.seed(ctx)
	}
	if f, ok := s.stream.(*os.File); ok && s.cfg.Source != "-" {
		defer f.Close()
	}
	_, err := s.sender.Run(ctx, countingReader{s})
	return err
}

// seed hashes the content, and serves it until ctx ends. It fails if the content changes.
func (s *source) seed(ctx context.Context) error {
	t, err := s.node.Seed(ctx, s.path, peer.SeedOptions{FollowLinks: s.cfg.FollowLinks, Progress: func(done, total int64) {
		s.read.Store(done)
		s.length.Store(total)
	}})
	if err != nil {
		return err
	}
	s.droppedBits.Store(int64(t.Manifest().SpecialBits()))
	n := t.Manifest().Length()
	s.read.Store(n)
	s.length.Store(n)
	s.start.Link = t.Link().String()
	if b := t.Description().EncodedManifest(); b != nil && len(b) <= agent.MaxManifest {
		s.start.Manifest = b
		if n <= agent.MaxManifest-int64(len(b)) {
			if s.start.Content, err = s.readAll(t.Manifest()); err != nil {
				return err
			}
			s.start.Seal = make([]byte, 32)
			_, _ = rand.Read(s.start.Seal) // never fails
			s.handed.Store(true)
		}
	}
	close(s.ready)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if t.Progress().Damaged > 0 {
				return fmt.Errorf("%s was changed while it was cast", s.cfg.Source)
			}
			if err := t.Err(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// offer has the URLs at which the first agent of a cluster serves a short content.
type offer struct {
	host *host
	urls []string
}

// neighborOf returns the URLs at which an agent gets a short content, or nil for the first agent of its cluster, also after
// another login.
func (s *source) neighborOf(h *host, p *launch.Process) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.first[h.is.Cluster]; ok && first.host != h && s.handed.Load() {
		return first.urls
	}
	s.first[h.is.Cluster] = offer{h, p.Offers}
	return nil
}

func (s *source) readAll(m *proto.Manifest) ([]byte, error) {
	var fsys vfs.FS = vfs.OS{}
	if s.cfg.FollowLinks {
		fsys = vfs.Follow(fsys)
	}
	st, err := store.Seed(filepath.Join(s.node.dir, "handed"), s.path, m, store.NewFilesOn(fsys, 0))
	if err != nil {
		return nil, err
	}
	b := make([]byte, m.Length())
	_, err = st.ReadAt(b, 0)
	return b, errors.Join(err, st.Close())
}

// isReady reports whether ready is closed.
func (s *source) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// release reports that all unsettled hosts have the records of a stream below a number.
func (s *source) release(n uint64) {
	if s.sender != nil {
		s.records.release(n)
		s.sender.Release(n)
	}
}

// held reports whether a stream waits until hosts have more of it.
func (s *source) held() bool { return s.sender != nil && s.sender.Held() }

// state returns the state of the source.
func (s *source) state() Source { return Source{Length: s.length.Load(), Read: s.read.Load()} }

// countingReader counts the bytes of a stream.
type countingReader struct{ *source }

// Read implements [io.Reader].
func (r countingReader) Read(p []byte) (int, error) {
	n, err := r.stream.Read(p)
	read := r.read.Add(int64(n))
	if err == io.EOF {
		if length := r.length.Load(); length > 0 && length != read {
			return n, fmt.Errorf("%s was changed while it was cast", r.cfg.Source)
		}
		r.length.Store(read)
	}
	return n, err
}
