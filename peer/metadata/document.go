package metadata

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/proto"
)

const (
	// requestTimeout bounds the request, and the time until the reply begins.
	requestTimeout = 10 * time.Second
	// stall is how long the other may send nothing, or take nothing, of a document.
	stall = 10 * time.Second
	// chunk is how much is read and written between two deadlines.
	chunk = 256 << 10
)

// ServeDocument answers the request on a stream with what find returns for the content id in
// it. An error of find means that the document is not here.
func ServeDocument(stream network.Stream, find func(id []byte) ([]byte, error)) {
	defer stream.Close()
	if err := answer(stream, find); err != nil {
		_ = stream.Reset()
	}
}

func answer(stream network.Stream, find func(id []byte) ([]byte, error)) error {
	_ = stream.SetDeadline(time.Now().Add(requestTimeout))
	m, err := proto.ReadMessage(stream)
	if err != nil {
		return err
	}
	req, ok := m.(*proto.ManifestRequest)
	if !ok {
		return unexpected(m)
	}
	b, err := find(req.Swarm)
	if err != nil {
		return proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
	}
	if err := proto.WriteMessage(stream, &proto.ManifestReply{Length: uint32(len(b))}); err != nil {
		return err
	}
	for len(b) > 0 {
		k := min(len(b), chunk)
		_ = stream.SetWriteDeadline(time.Now().Add(stall))
		if _, err := stream.Write(b[:k]); err != nil {
			return err
		}
		b = b[k:]
	}
	return nil
}

// RequestDocument asks for the document of a content, of at most limit bytes. The stream is of no
// use afterwards. It fails with a [*proto.RemoteError] when the peer does not have it.
func RequestDocument(ctx context.Context, stream network.Stream, id cid.Cid, limit int) ([]byte, error) {
	defer stream.Reset()
	stop := context.AfterFunc(ctx, func() { _ = stream.Reset() })
	defer stop()
	_ = stream.SetDeadline(time.Now().Add(requestTimeout))
	if err := proto.WriteMessage(stream, &proto.ManifestRequest{Swarm: id.Bytes()}); err != nil {
		return nil, err
	}
	reply, err := proto.ReadMessage(stream)
	if err != nil {
		return nil, err
	}
	switch reply := reply.(type) {
	case *proto.Goodbye:
		return nil, &proto.RemoteError{Code: reply.Code, Text: reply.Text}
	case *proto.ManifestReply:
		if int(reply.Length) > limit {
			return nil, fmt.Errorf("a document of %d bytes, at most %d", reply.Length, limit)
		}
		return read(stream, int(reply.Length))
	}
	return nil, unexpected(reply)
}

// read reads n bytes as they come: memory grows with what has arrived, not with
// what the peer claims.
func read(stream network.Stream, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		_ = stream.SetReadDeadline(time.Now().Add(stall))
		at := len(b)
		b = append(b, make([]byte, min(chunk, n-at))...)
		if _, err := io.ReadFull(stream, b[at:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func unexpected(m proto.Message) error {
	return fmt.Errorf("message type %d in place of a document", m.Type())
}
