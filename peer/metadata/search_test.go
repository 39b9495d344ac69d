package metadata

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// pipeStream is one end of a stream in memory.
type pipeStream struct {
	network.Stream
	pipe net.Conn
}

func (s pipeStream) Read(b []byte) (int, error)         { return s.pipe.Read(b) }
func (s pipeStream) Write(b []byte) (int, error)        { return s.pipe.Write(b) }
func (s pipeStream) Close() error                       { return s.pipe.Close() }
func (s pipeStream) CloseRead() error                   { return s.pipe.SetReadDeadline(time.Now()) }
func (s pipeStream) Reset() error                       { return s.pipe.Close() }
func (s pipeStream) SetDeadline(t time.Time) error      { return s.pipe.SetDeadline(t) }
func (s pipeStream) SetReadDeadline(t time.Time) error  { return s.pipe.SetReadDeadline(t) }
func (s pipeStream) SetWriteDeadline(t time.Time) error { return s.pipe.SetWriteDeadline(t) }
func (s pipeStream) Conn() network.Conn                 { return fakeConn{} }

type fakeConn struct{ network.Conn }

func (fakeConn) RemoteMultiaddr() ma.Multiaddr { return ma.StringCast("/ip4/192.0.2.1/tcp/1") }

// trickle replies with a document of 192 MiB, and sends each chunk just before the deadline.
func trickle(s net.Conn) {
	defer s.Close()
	if _, err := proto.ReadMessage(s); err != nil {
		return
	}
	_ = proto.WriteMessage(s, &proto.ManifestReply{Length: proto.MaxManifest})
	for {
		time.Sleep(stallTimeout - time.Second)
		if _, err := s.Write(make([]byte, chunkSize)); err != nil {
			return
		}
	}
}

// Members that trickle, as many as are asked at a time and more, do not hold the search up.
func TestSearchPassesTricklers(t *testing.T) {
	for _, tricklers := range []int{1, 2, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			var members []peer.AddrInfo
			for i := range tricklers + 1 {
				members = append(members, peer.AddrInfo{ID: peer.ID(rune('a' + i))})
			}
			honest := members[tricklers].ID
			want := []byte("document")
			link := &proto.Link{Manifest: proto.ManifestCID(want)}
			s := &search{
				Fetcher: &Fetcher{
					OpenStream: func(_ context.Context, to peer.AddrInfo, _ protocol.ID) (network.Stream, error) {
						near, far := net.Pipe()
						if to.ID == honest {
							go NewServer().Serve(pipeStream{pipe: far}, func([]byte) []byte { return want })
						} else {
							go trickle(far)
						}
						return pipeStream{pipe: near}, nil
					},
				},
				file:    ManifestFile,
				keys:    link.Keys(),
				members: func(context.Context) []peer.AddrInfo { return slices.Clone(members) },
				take: func(b []byte) error {
					if string(b) != string(want) {
						return errors.New("invalid")
					}
					return nil
				},
			}
			began := time.Now()
			if err := s.round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > time.Duration(tricklers+1)*nextAfter {
				t.Errorf("%d members that trickle held the search up for %v", tricklers, took)
			}
			time.Sleep(stallTimeout) // until they notice that the search is over
		})
	}
}

// A reply that will be complete soon is waited for, and no other member is asked.
func TestSearchWaitsForProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		document := make([]byte, 8*chunkSize)
		asked := 0
		s := &search{
			Fetcher: &Fetcher{
				OpenStream: func(context.Context, peer.AddrInfo, protocol.ID) (network.Stream, error) {
					asked++
					near, far := net.Pipe()
					go func() {
						defer far.Close()
						_, _ = proto.ReadMessage(far)
						_ = proto.WriteMessage(far, &proto.ManifestReply{Length: uint32(len(document))})
						for range len(document) / chunkSize {
							time.Sleep(2 * time.Second)
							_, _ = far.Write(make([]byte, chunkSize))
						}
					}()
					return pipeStream{pipe: near}, nil
				},
			},
			file:    ManifestFile,
			keys:    []cid.Cid{proto.ManifestCID(document)},
			members: func(context.Context) []peer.AddrInfo { return []peer.AddrInfo{{ID: "a"}, {ID: "b"}} },
			take:    func([]byte) error { return nil },
		}
		if err := s.round(t.Context()); err != nil || asked != 1 {
			t.Errorf("%v, %d members were asked, want 1", err, asked)
		}
	})
}

// A server sends few documents at a time, and gives up who does not read or sends more.
func TestServerBoundsTransfers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		document := make([]byte, 4*chunkSize)
		server := NewServer()
		finds := func([]byte) []byte { return document }
		open := func() net.Conn {
			near, far := net.Pipe()
			go server.Serve(pipeStream{pipe: far}, finds)
			if err := proto.WriteMessage(near, &proto.ManifestRequest{Swarm: []byte("swarm")}); err != nil {
				t.Fatal(err)
			}
			return near
		}
		reply := func(c net.Conn) proto.Message {
			t.Helper()
			m, err := proto.ReadMessage(c)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		var slow []net.Conn
		for range maxTransfers / 2 {
			slow = append(slow, open())
			if _, ok := reply(slow[len(slow)-1]).(*proto.ManifestReply); !ok {
				t.Fatal("rejected below the bound")
			}
		}
		if bye, ok := reply(open()).(*proto.Goodbye); !ok || bye.Code != proto.CodeBusy {
			t.Error("one address may have more than its share")
		}
		if n, err := io.Copy(io.Discard, slow[0]); n != int64(len(document)) || err != nil {
			t.Errorf("a reader got %d bytes, %v", n, err)
		}
		time.Sleep(stallTimeout + time.Second)
		if used := server.transfers.Used(); used != 0 {
			t.Errorf("%d transfers to peers that do not read are left", used)
		}
		more := open()
		reply(more)
		if _, err := more.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n, _ := io.Copy(io.Discard, more); n == int64(len(document)) {
			t.Error("a peer that sent more than the request got the document")
		}
	})
}
