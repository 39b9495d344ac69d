package tracker

import (
	"context"

	"github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// Local is a client for the node on the tracker's own host, which cannot dial itself. It asks this
// tracker only. Its methods may be called from any goroutine, and do not block.
type Local struct {
	server *Server
	remote multiaddr.Multiaddr // where its announces seem to come from
}

// Local returns a client for the node on the tracker's own host.
func (s *Server) Local() *Local { return &Local{s, multiaddr.StringCast("/ip4/127.0.0.1/tcp/1")} }

// Announce announces the node and returns the members that the tracker knows.
func (l *Local) Announce(_ context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	s, id := l.server, proto.PeerID(l.server.host.ID())
	s.counts.requests.Add(1)
	reply, err := s.announce(origin{id: id, addrs: memberAddrs(a.Addrs, l.remote), host: hostOf(l.remote)}, a)
	if err == nil {
		s.noteReports(id, a.Swarm, a.Received, a.Measured)
	}
	return reply, err
}

// Hosts sends the tracker the name of the node's host, and returns the wanted hosts that it knows.
func (l *Local) Hosts(_ context.Context, req *proto.HostsRequest) ([]proto.Host, error) {
	l.server.counts.requests.Add(1)
	return l.server.hosts(proto.PeerID(l.server.host.ID()), req)
}

// Close does nothing: the tracker continues.
func (l *Local) Close() error { return nil }
