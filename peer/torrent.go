package peer

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// Torrents makes and checks info dictionaries, by which BitTorrent clients know
// contents. Its methods may be called from any goroutine.
type Torrents interface {
	// Build makes that of a content whose pieces have these SHA-1, joined: always the
	// same bytes for the same arguments.
	Build(m *proto.Manifest, sums []byte) (info []byte, err error)
	// Check reports why info is not of the content of m, as far as can be seen
	// without its bytes.
	Check(m *proto.Manifest, info []byte) error
}

// torrentFile has the info dictionary of a content, in the folder of its transfer.
const torrentFile = "torrent"

var (
	errNoTorrents = errors.New("this node cannot make torrents")
	errNotOffered = errors.New("the content is not offered to BitTorrent clients")
)

// scan makes the manifest of what is at root, and its info dictionary if that is
// wanted.
func (n *Node) scan(ctx context.Context, root string, opt SeedOptions) (m *proto.Manifest, info []byte, err error) {
	so := store.ScanOptions{PieceLength: opt.PieceLength, Progress: opt.Progress}
	if !opt.Torrent {
		m, err = store.Scan(ctx, root, so)
		return m, nil, err
	}
	if n.cfg.Torrents == nil {
		return nil, nil, errNoTorrents
	}
	so.Accept = func(m *proto.Manifest) error { // what cannot be a torrent is told before hours of work
		_, err := n.cfg.Torrents.Build(m, make([]byte, m.Pieces()*sha1.Size))
		return err
	}
	m, sums, err := store.ScanSHA1(ctx, root, so)
	if err == nil {
		info, err = n.cfg.Torrents.Build(m, sums)
	}
	return m, info, err
}

// InfoHash is what BitTorrent clients call the content, zero when it is not offered
// to them.
func (t *Transfer) InfoHash() proto.InfoHash {
	link, err := proto.ParseLink(t.record().Link)
	if err != nil {
		return proto.InfoHash{}
	}
	return link.InfoHash
}

// Torrent is the content's info dictionary, nil when it is not offered to BitTorrent
// clients, or while the dictionary is not there yet. It must not be changed.
func (t *Transfer) Torrent() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.info
}

// SetTorrent keeps an info dictionary that came from somewhere. It fails when that is
// not the one that the transfer's link names, or not of its content.
func (t *Transfer) SetTorrent(info []byte) error {
	m, hash := t.Manifest(), t.InfoHash()
	if m == nil || hash.IsZero() || t.node.cfg.Torrents == nil {
		return errNotOffered
	}
	if got := proto.InfoHash(sha1.Sum(info)); got != hash {
		return fmt.Errorf("an info dictionary with the info-hash %s in place of %s", got, hash)
	}
	if err := t.node.cfg.Torrents.Check(m, info); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.info != nil {
		return nil
	}
	t.mu.info = info
	return datadir.WriteFile(t.torrentPath(), info, 0o600)
}

func (t *Transfer) torrentPath() string {
	return filepath.Join(t.node.transferDir(t.ID), torrentFile)
}

// loadTorrent takes up the info dictionary on disk. One that cannot be read, or is
// another, is as none: it can be had again.
func (t *Transfer) loadTorrent() {
	t.mu.Lock()
	t.mu.info = nil
	t.mu.Unlock()
	if t.InfoHash().IsZero() {
		return
	}
	info, err := os.ReadFile(t.torrentPath())
	if err == nil {
		err = t.SetTorrent(info)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.node.log.Warn("info dictionary left out", "content", t.ID.String(), "error", err)
	}
}

// MakeTorrent returns the info dictionary of a content that is here, and hashes the
// content when it has to be made, telling progress how far that is. It does not
// offer the content to BitTorrent clients.
func (t *Transfer) MakeTorrent(ctx context.Context, progress func(done, total int64)) ([]byte, error) {
	if info := t.Torrent(); info != nil {
		return info, nil
	}
	m, maker := t.Manifest(), t.node.cfg.Torrents
	if maker == nil {
		return nil, errNoTorrents
	}
	if info, err := os.ReadFile(t.torrentPath()); err == nil && t.InfoHash().IsZero() && maker.Check(m, info) == nil {
		return info, nil
	}
	t.mu.Lock()
	s, whole := t.mu.swarm, t.mu.phase == Whole
	t.mu.Unlock()
	if s == nil || !whole {
		return nil, errors.New("the content is not whole here, so its torrent cannot be made: wait for that, or ask where it is seeded")
	}
	sums, err := store.SHA1(ctx, s.st, m, store.ScanOptions{Progress: progress})
	if err != nil {
		return nil, err
	}
	info, err := maker.Build(m, sums)
	if err != nil {
		return nil, err
	}
	if !t.InfoHash().IsZero() {
		return info, t.SetTorrent(info)
	}
	return info, datadir.WriteFile(t.torrentPath(), info, 0o600)
}

// torrentBytes is the info dictionary of a transfer.
func (n *Node) torrentBytes(key []byte) ([]byte, error) {
	t, err := n.runs(key)
	if err != nil {
		return nil, err
	}
	if info := t.Torrent(); info != nil {
		return info, nil
	}
	return nil, errNotOffered
}

const (
	// torrentPause is the first pause between two rounds of asking for an info
	// dictionary, and torrentPauseMax the longest: without it only stock clients
	// have to wait.
	torrentPause    = time.Second
	torrentPauseMax = 30 * time.Second
)

// seekTorrent asks for the info dictionary until somebody has it or the swarm ends.
func (t *Transfer) seekTorrent(s *swarm, members []proto.Member) {
	for pause := torrentPause; ; pause = min(2*pause, torrentPauseMax) {
		for _, info := range append(s.connected(), t.candidates(members)...) {
			if t.Torrent() != nil || s.ctx.Err() != nil {
				return
			}
			if err := t.askTorrent(s.ctx, info); err != nil {
				s.log.Debug("no info dictionary", "peer", info.ID, "error", err)
			}
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
	}
}

func (t *Transfer) askTorrent(ctx context.Context, from libpeer.AddrInfo) error {
	info, err := t.node.fetchDocument(ctx, from, proto.TorrentProtocol, t.ID, proto.MaxTorrent)
	if err != nil {
		return err
	}
	return t.SetTorrent(info)
}

// connected are the peers of the swarm at its last snapshot.
func (s *swarm) connected() (out []libpeer.AddrInfo) {
	if snap := s.status.Load(); snap != nil {
		for _, p := range snap.mind.Peers {
			out = append(out, libpeer.AddrInfo{ID: libpeer.ID(p.ID)})
		}
	}
	return out
}
