package bittorrent

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// Limits for the download of an info dictionary.
const (
	// maxMetadataConns is the number of clients that send the info dictionary at a time.
	// Each sends all of it, because there is only one hash.
	maxMetadataConns = 4
	// metadataPipeline is the number of pieces requested from a client at a time.
	metadataPipeline = 8
	// metadataTimeout bounds the wait for a message. After metadataGrace a client must
	// send a piece every metadataPieceTime on average: Transmission sends two a second.
	metadataTimeout   = 10 * time.Second
	metadataGrace     = 30 * time.Second
	metadataPieceTime = time.Second
	// A client without a slot waits for slotWait until the slowest of those with one gives way.
	slotWait = 10 * time.Second
	// maxSkipped bounds messages of other types: it is the length of the bitfield of as
	// many pieces as an info dictionary may have.
	maxSkipped = proto.MaxTorrent / sha1.Size / 8
)

var (
	// errDescribed ends the connManager when the info dictionary is complete.
	errDescribed  = errors.New("the info dictionary is complete")
	errNoMetadata = errors.New("the client does not send the info dictionary")
)

// metadataFetcher downloads an info dictionary (BEP 9). Its handshake
// does not contain the key of a mob node, so other nodes serve it like any client.
type metadataFetcher struct {
	*connManager
	slots chan struct{} // a token for each client that sends the info dictionary

	mu      sync.Mutex // guards what follows
	info    []byte
	running []*metadataConn // that have a slot
	ended   time.Time       // when the slowest gave way
}

// Describe downloads the info dictionary of a link's torrent from BitTorrent clients:
// those that the link names, those that its trackers return, and those that connect.
// It blocks until the dictionary has the link's info-hash, or ctx or the server ends.
func (s *Server) Describe(ctx context.Context, link *proto.Link) (info []byte, err error) {
	f := s.newMetadataFetcher(ctx, link.InfoHash)
	defer f.cancel(nil)
	f.trackers = link.Announce
	f.addLinked(link.TorrentPeers)
	s.run(f.connManager)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.info == nil {
		return nil, context.Cause(f.ctx)
	}
	return f.info, nil
}

func (s *Server) newMetadataFetcher(ctx context.Context, hash proto.InfoHash) *metadataFetcher {
	f := &metadataFetcher{slots: make(chan struct{}, maxMetadataConns)}
	// The length is unknown, but trackers return seeds only to clients that are not complete.
	h := handler{handle: f.handle, progress: func() progress { return progress{left: chunk} }}
	f.connManager = s.newConnManager(ctx, hash, h, s.cfg.Log)
	return f
}

func (f *metadataFetcher) handle(p *remotePeer) error {
	if !p.extensions.SupportsExtended() {
		return errNoMetadata
	}
	stop := context.AfterFunc(f.ctx, func() { _ = p.Close() })
	defer stop()
	info, err := f.fetch(newMetadataConn(p), p.addr)
	if err == nil && sha1.Sum(info) != f.hash {
		err = protocolError("info dictionary with another hash")
	}
	if errors.Is(err, errProtocol) {
		f.ban(p.addr.Addr())
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.info = info
	f.mu.Unlock()
	f.cancel(errDescribed)
	return errDescribed
}

// fetch downloads the info dictionary when there is a slot.
func (f *metadataFetcher) fetch(c *metadataConn, addr netip.AddrPort) ([]byte, error) {
	if err := c.send(f.server.extendedHandshake(addr).encode()); err != nil {
		return nil, err
	}
	if err := c.receiveHandshake(); err != nil {
		return nil, err
	}
	for waiting := true; waiting; {
		select {
		case f.slots <- struct{}{}:
			waiting = false
		case <-time.After(slotWait):
			f.endSlowest()
		case <-f.ctx.Done():
			return nil, context.Cause(f.ctx)
		}
	}
	f.mu.Lock()
	c.start = time.Now()
	f.running = append(f.running, c)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running = slices.DeleteFunc(f.running, func(other *metadataConn) bool { return other == c })
		f.mu.Unlock()
		<-f.slots
	}()
	return c.download()
}

// endSlowest closes the connection to the client that would end last.
func (f *metadataFetcher) endSlowest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.running) == 0 || time.Since(f.ended) < slotWait {
		return
	}
	f.ended = time.Now()
	slowest := slices.MaxFunc(f.running, func(a, b *metadataConn) int { return cmp.Compare(a.left(), b.left()) })
	_ = slowest.conn.Close()
}

// metadataConn downloads the info dictionary from one client. It is used by one
// goroutine, except for left.
type metadataConn struct {
	conn      net.Conn
	start     time.Time // of the download
	r         *bufio.Reader
	size      int                // of the info dictionary, from the client's handshake
	id        pp.ExtensionNumber // of metadata messages to the client
	pieces    [][]byte           // nil where they have not been received
	requested int                // pieces, in order
	received  atomic.Int64       // pieces
}

func newMetadataConn(conn net.Conn) *metadataConn {
	return &metadataConn{conn: conn, r: bufio.NewReader(conn), start: time.Now()}
}

// left returns about the time until the end of the download, at its rate so far.
func (c *metadataConn) left() time.Duration {
	received := c.received.Load()
	return time.Since(c.start) * time.Duration(int64(metadataPieces(c.size))-received) / time.Duration(received+1)
}

func (c *metadataConn) send(payload []byte) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(metadataTimeout))
	_, err := c.conn.Write(appendMessage(nil, pp.Extended, payload))
	return err
}

// receive returns the next extended message. It skips other messages.
func (c *metadataConn) receive(deadline time.Time) ([]byte, error) {
	_ = c.conn.SetReadDeadline(deadline)
	for {
		t, n, err := readHeader(c.r)
		switch {
		case err != nil:
			return nil, err
		case n < 0:
		case t == pp.Extended:
			return readExtended(c.r, n)
		case n > maxSkipped:
			return nil, protocolError("message of type %d and %d bytes", t, n)
		default:
			if _, err := c.r.Discard(int(n)); err != nil {
				return nil, err
			}
		}
	}
}

// receiveHandshake receives the extended handshake, which has the size of the info
// dictionary.
func (c *metadataConn) receiveHandshake() error {
	b, err := c.receive(time.Now().Add(handshakeTimeout))
	if err != nil {
		return err
	}
	if b[0] != pp.HandshakeExtendedID {
		return protocolError("extended message %d before the handshake", b[0])
	}
	h, err := decodeExtendedHandshake(b[1:])
	if err != nil {
		return err
	}
	id := h.M[pp.ExtensionNameMetadata]
	switch {
	case id == 0 || h.MetadataSize == 0:
		return errNoMetadata
	case h.MetadataSize < 0 || h.MetadataSize > proto.MaxTorrent:
		return protocolError("info dictionary of %d bytes", h.MetadataSize)
	}
	c.size, c.id = h.MetadataSize, id
	return nil
}

func (c *metadataConn) download() ([]byte, error) {
	c.pieces = make([][]byte, metadataPieces(c.size))
	for {
		received := int(c.received.Load())
		if received == len(c.pieces) {
			return bytes.Join(c.pieces, nil), nil
		}
		for c.requested < min(len(c.pieces), received+metadataPipeline) {
			m := pp.ExtendedMetadataRequestMsg{Type: pp.RequestMetadataExtensionMsgType, Piece: c.requested}
			if err := c.send(encodeMetadata(c.id, m, nil)); err != nil {
				return nil, err
			}
			c.requested++
		}
		deadline := time.Now().Add(metadataTimeout)
		tooSlow := c.start.Add(metadataGrace + time.Duration(received)*metadataPieceTime)
		if tooSlow.Before(deadline) {
			deadline = tooSlow
		}
		b, err := c.receive(deadline)
		if err != nil {
			return nil, err
		}
		if pp.ExtensionNumber(b[0]) == ownMetadataID {
			if err := c.onMetadata(b[1:]); err != nil {
				return nil, err
			}
		}
	}
}

func (c *metadataConn) onMetadata(b []byte) error {
	m, piece, err := decodeMetadata(b)
	switch {
	case err != nil:
		return err
	case m.Type == pp.RejectMetadataExtensionMsgType:
		return errNoMetadata
	case m.Type != pp.DataMetadataExtensionMsgType:
		return nil
	case m.Piece < 0 || m.Piece >= c.requested || c.pieces[m.Piece] != nil:
		return protocolError("piece %d of the info dictionary without a request", m.Piece)
	case m.TotalSize != 0 && m.TotalSize != c.size || len(piece) != min(chunk, c.size-m.Piece*chunk):
		return protocolError("piece %d of the info dictionary has %d bytes of %d, want a part of %d",
			m.Piece, len(piece), m.TotalSize, c.size)
	}
	c.pieces[m.Piece] = bytes.Clone(piece) // without the message around it
	c.received.Add(1)
	return nil
}
