package bittorrent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/anacrolix/torrent/bencode"
	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// Bounds on what it may cost to ask clients what a torrent is.
const (
	// maxTellers is how many clients are asked for an info dictionary at a time. Each
	// tells all of it, since it shows only in the end that one was wrong, and so takes
	// as much memory as has come of it.
	maxTellers = 4
	// partsAhead is how many parts a client is asked for at a time.
	partsAhead = 8
	// partTimeout is how long a client may take for a part, and tellTimeout and
	// leastTelling (in bytes per second) for the whole: Transmission sends two parts a
	// second.
	partTimeout  = 10 * time.Second
	tellTimeout  = 30 * time.Second
	leastTelling = 16 << 10
)

var (
	// errDescribed ends a lobby that is not needed any more.
	errDescribed = errors.New("the info dictionary is here")
	errUntold    = errors.New("it has no info dictionary to give")
)

// description finds out what a torrent is: it is a host that asks clients for the
// info dictionary (BEP 9). It does not tell that it is a mob node, so other nodes
// answer as they answer any client.
type description struct {
	*lobby
	turns chan struct{} // a token for each client that tells

	mu   sync.Mutex // guards what follows
	info []byte
}

// Describe asks BitTorrent clients for the info dictionary of a link's torrent: those
// that the link names, those that its trackers tell of, and who comes. It blocks until
// one has told what has the link's info-hash, or ctx ends, or the server.
func (s *Server) Describe(ctx context.Context, link *proto.Link) (info []byte, err error) {
	d := &description{turns: make(chan struct{}, maxTellers)}
	d.lobby = s.newLobby(ctx, link.InfoHash, d)
	defer d.cancel(nil)
	d.trackers = link.Announce
	d.contacts.add(link.TorrentPeers)
	if err := s.open(d.lobby); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.info == nil {
		return nil, context.Cause(d.ctx)
	}
	return d.info, nil
}

// whole implements host: what the content is must be known first.
func (d *description) whole() <-chan struct{} { return nil }

// standing implements host. How much is missing is not known; that something is makes
// trackers tell of seeds.
func (d *description) standing() standing { return standing{left: chunk} }

// talk asks a client for the info dictionary.
func (d *description) talk(conn net.Conn, at netip.AddrPort, theirs handshake, dialed bool) error {
	if !theirs.bits.SupportsExtended() {
		return errUntold
	}
	if err := d.admit(theirs.id, at.Addr(), dialed); err != nil {
		return err
	}
	defer d.forget(theirs.id)
	stop := context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	defer stop()
	t := newTeller(conn)
	info, err := d.ask(t, at)
	if err == nil && sha1.Sum(info) != d.hash {
		err = protocolError("its info dictionary is another than the torrent's")
	}
	if errors.Is(err, errProtocol) {
		d.ban(at.Addr())
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.info = info
	d.mu.Unlock()
	d.cancel(errDescribed)
	return errDescribed
}

// ask has a client tell, once it is its turn.
func (d *description) ask(t *teller, at netip.AddrPort) ([]byte, error) {
	if err := t.say(d.server.introduction(at, 0, "")); err != nil {
		return nil, err
	}
	if err := t.hearIntroduction(); err != nil {
		return nil, err
	}
	select {
	case d.turns <- struct{}{}:
	case <-d.ctx.Done():
		return nil, context.Cause(d.ctx)
	}
	defer func() { <-d.turns }()
	return t.tell()
}

// teller is a client that is asked for an info dictionary, by one goroutine.
type teller struct {
	conn  net.Conn
	r     *bufio.Reader
	size  int       // of the info dictionary, as it says
	asks  byte      // the number of its metadata messages
	end   time.Time // when it must be done
	parts [][]byte  // that came, the others nil
	asked int       // parts that it was asked for: the first ones
	got   int
}

func newTeller(conn net.Conn) *teller { return &teller{conn: conn, r: bufio.NewReader(conn)} }

// say sends an extended message.
func (t *teller) say(payload []byte) error {
	o := newOutbox()
	o.put(pp.Extended, payload)
	_ = t.conn.SetWriteDeadline(time.Now().Add(partTimeout))
	_, err := t.conn.Write(o.take(nil))
	return err
}

// hear reads messages up to the next extended one. Others mean nothing while it is not
// known what the torrent is.
func (t *teller) hear(timeout time.Duration) ([]byte, error) {
	end := time.Now().Add(timeout)
	if !t.end.IsZero() && t.end.Before(end) {
		end = t.end
	}
	_ = t.conn.SetReadDeadline(end)
	for {
		kind, n, err := readHead(t.r)
		switch {
		case err != nil:
			return nil, err
		case n < 0:
		case kind == pp.Extended:
			return readExtended(t.r, n)
		case n > maxPassed:
			return nil, protocolError("message of type %d and %d bytes", kind, n)
		default:
			if _, err := t.r.Discard(int(n)); err != nil {
				return nil, err
			}
		}
	}
}

// maxPassed bounds the messages that are passed over: a bitfield of all pieces that
// an info dictionary has room for.
const maxPassed = proto.MaxTorrent / sha1.Size / 8

// hearIntroduction learns whether the client has an info dictionary, and how long.
func (t *teller) hearIntroduction() error {
	b, err := t.hear(handshakeTimeout)
	if err != nil {
		return err
	}
	if b[0] != pp.HandshakeExtendedID {
		return protocolError("extended message %d before the handshake", b[0])
	}
	said, err := readIntroduction(b[1:])
	if err != nil {
		return err
	}
	number := said.Messages[pp.ExtensionNameMetadata]
	switch {
	case number <= 0 || number > 255 || said.Metadata == 0:
		return errUntold
	case said.Metadata < 0 || said.Metadata > proto.MaxTorrent:
		return protocolError("info dictionary of %d bytes", said.Metadata)
	}
	t.size, t.asks = said.Metadata, byte(number)
	return nil
}

// tell has the client tell all.
func (t *teller) tell() ([]byte, error) {
	t.end = time.Now().Add(tellTimeout + time.Duration(t.size)*time.Second/leastTelling)
	t.parts = make([][]byte, metadataParts(t.size))
	for t.got < len(t.parts) {
		for t.asked < min(len(t.parts), t.got+partsAhead) {
			if err := t.say(t.request(t.asked)); err != nil {
				return nil, err
			}
			t.asked++
		}
		b, err := t.hear(partTimeout)
		if err != nil {
			return nil, err
		}
		if b[0] == ownMetadata {
			if err := t.heard(b[1:]); err != nil {
				return nil, err
			}
		}
	}
	return bytes.Join(t.parts, nil), nil
}

// request asks for a part.
func (t *teller) request(part int) []byte {
	return append([]byte{t.asks}, bencode.MustMarshal(metadataMessage{Type: pp.RequestMetadataExtensionMsgType, Piece: part})...)
}

// heard takes in a metadata message.
func (t *teller) heard(b []byte) error {
	m, part, err := readMetadata(b)
	switch {
	case err != nil:
		return err
	case m.Type == pp.RejectMetadataExtensionMsgType:
		return errUntold
	case m.Type != pp.DataMetadataExtensionMsgType:
		return nil
	case m.Piece < 0 || m.Piece >= t.asked || t.parts[m.Piece] != nil:
		return protocolError("part %d of the info dictionary, which nobody asked for", m.Piece)
	case m.Total != 0 && m.Total != t.size || len(part) != min(chunk, t.size-m.Piece*chunk):
		return protocolError("%d bytes for part %d of an info dictionary of %d, before of %d", len(part), m.Piece, m.Total, t.size)
	}
	t.parts[m.Piece] = bytes.Clone(part) // without the room around it
	t.got++
	return nil
}
