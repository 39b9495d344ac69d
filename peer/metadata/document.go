package metadata

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// Protocols has the libp2p protocol of each document, by the name of its file. It has one request and one reply per stream
// (docs/wire.md, 7.3).
//
//nolint:gochecknoglobals // a constant table
var Protocols = map[string]protocol.ID{
	ManifestFile: proto.ManifestProtocol, TorrentFile: proto.TorrentProtocol, PlanFile: proto.PlanProtocol,
}

// limits has the greatest length of each document in bytes.
//
//nolint:gochecknoglobals // a constant table
var limits = map[string]int{ManifestFile: proto.MaxManifest, TorrentFile: proto.MaxTorrent, PlanFile: proto.MaxPlan}

const (
	// requestTimeout bounds the request, and the time until the reply starts.
	requestTimeout = 10 * time.Second
	// stallTimeout bounds the transfer of each chunk of a document.
	stallTimeout = 10 * time.Second
	// chunkSize is the number of bytes read or written per deadline.
	chunkSize = 256 << 10
)

// maxTransfers bounds the documents that a server sends at a time. An address has as many as
// are free.
const maxTransfers = 64

// Server serves documents. Its methods may be called from any goroutine.
type Server struct{ transfers *quota.Shared[netip.Addr] }

// NewServer returns a server that serves nothing yet.
func NewServer() *Server { return &Server{quota.NewShared[netip.Addr](maxTransfers)} }

// Serve replies to the request on a stream, and closes the stream. find returns the document
// for a content id in binary form, which is not copied, or nil if the node does not have it.
func (s *Server) Serve(stream network.Stream, find func(id []byte) []byte) {
	defer stream.Close()
	if err := s.serve(stream, find); err != nil {
		_ = stream.Reset()
	}
}

func (s *Server) serve(stream network.Stream, find func(id []byte) []byte) error {
	_ = stream.SetDeadline(time.Now().Add(requestTimeout))
	m, err := proto.ReadOpening(stream)
	if err != nil {
		return err
	}
	req, ok := m.(*proto.ManifestRequest)
	if !ok {
		return unexpected(m)
	}
	b := find(req.Swarm)
	if b == nil {
		return proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
	}
	release, ok := s.transfers.Take(transport.HostOf(stream.Conn().RemoteMultiaddr()))
	if !ok {
		return proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeBusy, Text: "too many requests at a time"})
	}
	defer release()
	defer resetIfMoreComes(stream)()
	return send(stream, b)
}

// send sends a document. It fails if the peer does not read a chunk within stallTimeout.
func send(stream network.Stream, b []byte) error {
	if err := proto.WriteMessage(stream, &proto.ManifestReply{Length: uint32(len(b))}); err != nil {
		return err
	}
	for len(b) > 0 {
		k := min(len(b), chunkSize)
		_ = stream.SetWriteDeadline(time.Now().Add(stallTimeout))
		if _, err := stream.Write(b[:k]); err != nil {
			return err
		}
		b = b[k:]
	}
	return nil
}

// resetIfMoreComes resets a stream if anything follows the request, which would stay in memory
// during the reply. The result ends that.
func resetIfMoreComes(stream network.Stream) (end func()) {
	_ = stream.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if n, _ := stream.Read(make([]byte, 1)); n > 0 {
			_ = stream.Reset()
		}
	}()
	return func() {
		_ = stream.CloseRead()
		<-done
	}
}

// progress is the received part of a document. Safe for concurrent use.
type progress struct{ length, received atomic.Int64 }

// requestDocument requests a document and returns it unchecked. It fails if the document is
// longer than limit bytes, and with a [*proto.RemoteError] if the peer does not have it. It
// closes the stream.
func requestDocument(
	ctx context.Context, stream network.Stream, id cid.Cid, limit int, p *progress,
) ([]byte, error) {
	defer stream.Reset()
	stop := context.AfterFunc(ctx, func() { _ = stream.Reset() })
	defer stop()
	_ = stream.SetDeadline(time.Now().Add(requestTimeout))
	if err := proto.WriteMessage(stream, &proto.ManifestRequest{Swarm: id.Bytes()}); err != nil {
		return nil, err
	}
	reply, err := proto.ReadOpening(stream)
	if err != nil {
		return nil, err
	}
	switch reply := reply.(type) {
	case *proto.Goodbye:
		return nil, (*proto.RemoteError)(reply)
	case *proto.ManifestReply:
		if int(reply.Length) > limit {
			return nil, fmt.Errorf("document of %d bytes, at most %d", reply.Length, limit)
		}
		p.length.Store(int64(reply.Length))
		return readDocument(stream, int(reply.Length), p)
	}
	return nil, unexpected(reply)
}

// readDocument reads n bytes. Memory grows with the bytes that arrive, not with those
// that the peer claims.
func readDocument(stream network.Stream, n int, p *progress) ([]byte, error) {
	var b []byte
	for len(b) < n {
		_ = stream.SetReadDeadline(time.Now().Add(stallTimeout))
		at := len(b)
		b = append(b, make([]byte, min(chunkSize, n-at))...)
		if _, err := io.ReadFull(stream, b[at:]); err != nil {
			return nil, err
		}
		p.received.Store(int64(len(b)))
	}
	return b, nil
}

func unexpected(m proto.Message) error {
	return fmt.Errorf("unexpected message of type %d", proto.TypeOf(m))
}
