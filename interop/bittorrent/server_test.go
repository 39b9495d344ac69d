package bittorrent

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

func TestServeClients(t *testing.T) {
	t.Parallel()
	s := newSample(t, 3<<20+12345)
	n := startNode(t, "A", s.torrent(), 0)
	tr := n.seed(t, s)
	for name, kind := range map[string]clientKind{"basic": basic, "modern": modern} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, n, s, kind, byte(kind))
			c.send(pp.Interested, nil)
			c.expect(pp.Unchoke)
			c.download()
			eventually(t, "the client in the status", func() bool {
				for _, p := range tr.Status().Peers {
					if p.Client == map[clientKind]string{basic: "-XX0000-", modern: "scripted 1.0"}[kind] && !p.Local {
						return true
					}
				}
				return false
			})
		})
	}
	// Loopback is local. Bytes are counted just after they have been sent.
	eventually(t, "the upload in the traffic of the LAN", func() bool {
		got := tr.Status().Traffic
		return got.LANOut == 2*int64(len(s.data)) && got.WANOut == 0
	})
}

// TestServePart fetches one of two files: clients are sent the numbers of the pieces that can be served, and these pieces.
func TestServePart(t *testing.T) {
	t.Parallel()
	s := &sample{path: filepath.Join(t.TempDir(), "tree")}
	for name, size := range map[string]int{"a": 1<<20 + 100, "b": 1 << 20} {
		file := newSample(t, size)
		if err := errors.Join(os.MkdirAll(s.path, 0o700), os.Rename(file.path, filepath.Join(s.path, name))); err != nil {
			t.Fatal(err)
		}
	}
	s.scan(t)
	a, b := startNode(t, "A", s.torrent(), 0), startNode(t, "B", s.torrent(), 0)
	tr, err := b.Get(a.seed(t, s).Link(), filepath.Join(t.TempDir(), "out"), peer.GetOptions{Select: peer.Selection{Exclude: []string{"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	mustWait(t, tr)
	b.waitAttached(t, tr)
	if now := (&swarm{transfer: tr}).progress(); now.left != tr.Status().LeftOut.PieceBytes || now.left == 0 {
		t.Errorf("%d bytes are left", now.left)
	}
	want := bitset.New(s.manifest.Pieces())
	want.AddRange(0, (1<<20+100)/int(s.manifest.PieceLength)+1)
	c := connect(t, b, s, basic, 1)
	if got := c.expect(pp.Bitfield); !bytes.Equal(got, encodeBitfield(want)) {
		t.Errorf("bitfield is %x, want %x", got, encodeBitfield(want))
	}
	c.send(pp.Interested, nil)
	c.expect(pp.Unchoke)
	c.send(pp.Request, nil, uint32(want.Len()-1), 0, 1<<14)
	c.expect(pp.Piece)
}

func TestServeMetadata(t *testing.T) {
	t.Parallel()
	s := newMetadataSample(t)
	n := startNode(t, "A", s.torrent(), 0)
	n.seed(t, s)
	c := connect(t, n, s, modern, 1)
	h, err := decodeExtendedHandshake(c.expect(pp.Extended)[1:])
	if err != nil {
		t.Fatal(err)
	}
	id := h.M[pp.ExtensionNameMetadata]
	if h.MetadataSize != len(s.meta.Info) || h.Mob != n.Host().ID().String() || id == 0 {
		t.Fatalf("handshake %+v", h)
	}
	var got []byte
	pieces := (h.MetadataSize + chunk - 1) / chunk
	for i := range pieces + 1 {
		c.send(pp.Extended, encodeMetadata(id, pp.ExtendedMetadataRequestMsg{Piece: i}, nil))
		b := c.expect(pp.Extended)
		m, piece, err := decodeMetadata(b[1:])
		if err != nil || b[0] != clientMetadataID || m.Piece != i {
			t.Fatalf("piece %d: %+v, %v", i, m, err)
		}
		if end := i == pieces; end != (m.Type == pp.RejectMetadataExtensionMsgType) {
			t.Fatalf("piece %d of %d: %+v", i, pieces, m)
		}
		if i < pieces {
			got = append(got, piece...)
		}
	}
	if pieces < 2 || !bytes.Equal(got, s.meta.Info) {
		t.Errorf("%d pieces, which are not the info dictionary", pieces)
	}
}

// startSeed starts a scripted client that listens on loopback. Each connection runs do.
func startSeed(t *testing.T, s *sample, id byte, do func(c *client)) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go serveConns(t, l, basic.handshake(s, id), s, do)
	return l
}

// serveConns exchanges handshakes over each connection and runs do, until the listener is
// closed.
func serveConns(t *testing.T, l net.Listener, own *handshake, s *sample, do func(c *client)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := exchangeHandshakes(conn, *own); err == nil {
				do(&client{t: t, conn: conn, s: s})
			}
		}()
	}
}

func TestDownloadFromClient(t *testing.T) {
	t.Parallel()
	s := newSample(t, 5<<20+777)
	seed := startSeed(t, s, 1, func(c *client) {
		c.sendAll()
		c.serve(nil)
	})
	torrent := s.torrent()
	torrent.Peers = append(torrent.Peers, seed.Addr().(*net.TCPAddr).AddrPort())
	n := startNode(t, "A", torrent, 0)
	tr, out := n.get(t, s)
	mustWait(t, tr)
	mustEqual(t, out, s.data)
	if st := tr.Status(); st.Traffic.LANIn != int64(len(s.data)) || st.Duplicate != 0 {
		t.Errorf("traffic %+v, %d bytes twice; want %d once", st.Traffic, st.Duplicate, len(s.data))
	}
}

// TestChokeDuringBlock checks a seed that chokes during a block, again and again.
func TestChokeDuringBlock(t *testing.T) {
	t.Parallel()
	s := newSample(t, 2<<20)
	seed := startSeed(t, s, 1, func(c *client) {
		c.sendAll()
		served := 0
		c.serve(func(proto.Span) bool {
			if served++; served%37 == 0 {
				c.send(pp.Choke, nil)
				time.Sleep(20 * time.Millisecond)
				c.send(pp.Unchoke, nil)
				return false
			}
			return true
		})
	})
	torrent := s.torrent()
	torrent.Peers = append(torrent.Peers, seed.Addr().(*net.TCPAddr).AddrPort())
	n := startNode(t, "A", torrent, 0)
	tr, out := n.get(t, s)
	mustWait(t, tr)
	mustEqual(t, out, s.data)
}
