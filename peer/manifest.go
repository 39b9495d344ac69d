package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

const (
	// manifestStall is how long a peer may send nothing of a manifest.
	manifestStall = 10 * time.Second
	// manifestChunk is how much is read and written between two deadlines.
	manifestChunk = 256 << 10
)

// acceptManifest answers a request for a manifest.
func (n *Node) acceptManifest(stream network.Stream) {
	defer stream.Close()
	_ = stream.SetDeadline(time.Now().Add(handshakeTimeout))
	m, err := proto.ReadMessage(stream)
	if err != nil {
		_ = stream.Reset()
		return
	}
	req, ok := m.(*proto.ManifestRequest)
	if !ok {
		_ = stream.Reset()
		return
	}
	b, err := n.manifestBytes(req.Swarm)
	if err != nil {
		_ = proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
		return
	}
	if err := proto.WriteMessage(stream, &proto.ManifestReply{Length: uint32(len(b))}); err != nil {
		_ = stream.Reset()
		return
	}
	for len(b) > 0 {
		k := min(len(b), manifestChunk)
		_ = stream.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := stream.Write(b[:k]); err != nil {
			_ = stream.Reset()
			return
		}
		b = b[k:]
	}
}

// fetchManifest asks one peer for the manifest of id and checks it.
func (n *Node) fetchManifest(ctx context.Context, info libpeer.AddrInfo, id cid.Cid) (*proto.Manifest, []byte, error) {
	dctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	stream, err := n.open(dctx, info, proto.ManifestProtocol)
	if err != nil {
		return nil, nil, err
	}
	defer stream.Reset()
	stop := context.AfterFunc(ctx, func() { _ = stream.Reset() })
	defer stop()
	_ = stream.SetDeadline(time.Now().Add(handshakeTimeout))
	if err := proto.WriteMessage(stream, &proto.ManifestRequest{Swarm: id.Bytes()}); err != nil {
		return nil, nil, err
	}
	reply, err := proto.ReadMessage(stream)
	if err != nil {
		return nil, nil, err
	}
	switch reply := reply.(type) {
	case *proto.Goodbye:
		return nil, nil, &proto.RemoteError{Code: reply.Code, Text: reply.Text}
	case *proto.ManifestReply:
		b, err := readBytes(stream, int(reply.Length))
		if err != nil {
			return nil, nil, err
		}
		m, err := proto.DecodeVerified(id, b)
		return m, b, err
	}
	return nil, nil, fmt.Errorf("expected a manifest, got message type %d", reply.Type())
}

// readBytes reads n bytes as they come: memory grows with what has arrived, not
// with what the peer claims.
func readBytes(stream network.Stream, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		_ = stream.SetReadDeadline(time.Now().Add(manifestStall))
		at := len(b)
		b = append(b, make([]byte, min(manifestChunk, n-at))...)
		if _, err := io.ReadFull(stream, b[at:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// errNobody is why a manifest is not there yet, while nobody is known.
var errNobody = errors.New("nobody is known who has the content")

// seekManifest asks members for the manifest until one has it. It returns also
// the members that it heard of. tell is told what it waits for.
func (t *Transfer) seekManifest(ctx context.Context, finder Finder) (*proto.Manifest, []byte, []proto.Member, error) {
	pause := 250 * time.Millisecond
	if link, err := proto.ParseLink(t.record().Link); err == nil {
		t.node.callAhead(slices.Concat(link.Trackers, link.Peers))
	}
	for {
		members, why := t.askTrackers(ctx, finder)
		t.note("looking for the content: " + why)
		m, b, err := t.askManifest(ctx, members)
		if err == nil {
			return m, b, members, nil
		}
		if ctx.Err() != nil {
			return nil, nil, nil, context.Cause(ctx)
		}
		t.note(fmt.Sprintf("looking for the content: %s; %v", why, err))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, nil, context.Cause(ctx)
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// askTrackers says in why how that went.
func (t *Transfer) askTrackers(ctx context.Context, finder Finder) (members []proto.Member, why string) {
	if finder == nil {
		return nil, "the link names no tracker"
	}
	h, err := finder.Announce(ctx, &proto.Announce{Swarm: t.ID.Bytes(), Cluster: t.node.cfg.Cluster, Addrs: t.node.addrBytes()})
	if err != nil {
		return nil, err.Error()
	}
	return h.Members, fmt.Sprintf("the tracker knows %d other nodes", len(h.Members))
}

// askManifest asks the own cluster first, then the link's peers, then others.
func (t *Transfer) askManifest(ctx context.Context, members []proto.Member) (*proto.Manifest, []byte, error) {
	err := errNobody
	for _, info := range t.candidates(members) {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		m, b, e := t.node.fetchManifest(ctx, info, t.ID)
		if e == nil {
			return m, b, nil
		}
		err = fmt.Errorf("%s: %w", info.ID, e)
	}
	return nil, nil, err
}

func (t *Transfer) candidates(members []proto.Member) []libpeer.AddrInfo {
	var near, far []libpeer.AddrInfo
	for i := range members {
		id, err := libpeer.IDFromBytes([]byte(members[i].ID))
		if err != nil || id == t.node.host.ID() {
			continue
		}
		info := libpeer.AddrInfo{ID: id, Addrs: multiaddrs(members[i].Addrs)}
		if members[i].Cluster == t.node.cfg.Cluster {
			near = append(near, info)
		} else {
			far = append(far, info)
		}
	}
	return append(append(near, t.linkPeers()...), far...)
}
