package bittorrent

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/anacrolix/torrent/bencode"
	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

func TestServesClients(t *testing.T) {
	s := newSample(t, 3<<20+12345)
	n := startNode(t, "A", s.offer(), 0)
	tr := n.seed(t, s)
	for name, bits := range map[string]clientBits{"old": plain, "modern": modern} {
		t.Run(name, func(t *testing.T) {
			c := call(t, n, s, bits, byte(bits))
			c.say(pp.Interested, nil)
			c.expect(pp.Unchoke)
			c.download()
			eventually(t, "the client in the status", func() bool {
				for _, p := range tr.Status().Peers {
					if p.Client == map[clientBits]string{plain: "-XX0000-", modern: "scripted 1.0"}[bits] && p.Local == false {
						return true
					}
				}
				return false
			})
		})
	}
	// Loopback is near. What went out is counted just after it has.
	eventually(t, "all that went out, as the LAN's", func() bool {
		got := tr.Status().Traffic
		return got.LANOut == 2*int64(len(s.data)) && got.WANOut == 0
	})
}

func TestServesMetadata(t *testing.T) {
	s := newSample(t, 64<<20) // so that the dictionary has several parts
	s.torrent.Info = append([]byte{}, bytes.Repeat(s.torrent.Info, 8)...)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	c := call(t, n, s, modern, 1)
	var said extended
	if err := bencode.NewDecoder(bytes.NewReader(c.expect(pp.Extended)[1:])).Decode(&said); err != nil {
		t.Fatal(err)
	}
	if said.Metadata != len(s.torrent.Info) || said.Mob != n.Host().ID().String() || said.Messages[pp.ExtensionNameMetadata] == 0 {
		t.Fatalf("introduction %+v", said)
	}
	var got []byte
	parts := (said.Metadata + chunk - 1) / chunk
	for i := range parts + 1 {
		c.say(pp.Extended, append([]byte{byte(said.Messages[pp.ExtensionNameMetadata])}, bencode.MustMarshal(metadataMessage{Piece: i})...))
		b := c.expect(pp.Extended)
		var m metadataMessage
		d := bencode.NewDecoder(bytes.NewReader(b[1:]))
		if err := d.Decode(&m); err != nil || b[0] != 7 || m.Piece != i {
			t.Fatalf("part %d: %+v, %v", i, m, err)
		}
		if last := i == parts; last != (m.Type == pp.RejectMetadataExtensionMsgType) {
			t.Fatalf("part %d of %d: %+v", i, parts, m)
		}
		if i < parts {
			got = append(got, b[len(b)-min(chunk, said.Metadata-i*chunk):]...)
		}
	}
	if parts < 2 || !bytes.Equal(got, s.torrent.Info) {
		t.Errorf("%d parts, and not the dictionary", parts)
	}
}

// startSeed is a scripted seed that waits for the node. do is what each connection
// does.
func startSeed(t *testing.T, s *sample, id byte, do func(c *client)) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go greetEach(t, l, plain.handshake(s, id), s, do)
	return l
}

// greetEach greets whoever comes, and then has do go on, until the listener is closed.
func greetEach(t *testing.T, l net.Listener, own *handshake, s *sample, do func(c *client)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := greet(conn, *own); err == nil {
				do(&client{t: t, conn: conn, s: s})
			}
		}()
	}
}

func TestFetchesFromClients(t *testing.T) {
	s := newSample(t, 5<<20+777)
	seed := startSeed(t, s, 1, func(c *client) {
		c.offer()
		c.serve(nil)
	})
	offer := s.offer()
	offer.Peers = append(offer.Peers, seed.Addr().(*net.TCPAddr).AddrPort())
	n := startNode(t, "A", offer, 0)
	tr, out := n.get(t, s)
	mustWait(t, tr)
	mustEqual(t, out, s.data)
	if st := tr.Status(); st.Traffic.LANIn != int64(len(s.data)) || st.Duplicate != 0 {
		t.Errorf("%+v came, %d twice; want %d once", st.Traffic, st.Duplicate, len(s.data))
	}
}

// TestChokeInMidPiece has a seed choke after some chunks, again and again, in the
// middle of a block, and wait with the rest.
func TestChokeInMidPiece(t *testing.T) {
	s := newSample(t, 2<<20)
	seed := startSeed(t, s, 1, func(c *client) {
		c.offer()
		served := 0
		c.serve(func(proto.Span) bool {
			if served++; served%37 == 0 {
				c.say(pp.Choke, nil)
				time.Sleep(20 * time.Millisecond)
				c.say(pp.Unchoke, nil)
				return false
			}
			return true
		})
	})
	offer := s.offer()
	offer.Peers = append(offer.Peers, seed.Addr().(*net.TCPAddr).AddrPort())
	n := startNode(t, "A", offer, 0)
	tr, out := n.get(t, s)
	mustWait(t, tr)
	mustEqual(t, out, s.data)
}
