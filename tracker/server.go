package tracker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

// A swarm is young while its members still look for each other. While it is also
// small enough for the load, the announce interval is shorter.
const (
	youngFor     = 2 * time.Minute
	youngMembers = 1000
	youngDivisor = 3
)

// goodbyeTimeout bounds the writing of an error, which may come after Timeout.
const goodbyeTimeout = time.Second

// Server is a tracker on a libp2p host. Its methods may be called from any
// goroutine.
type Server struct {
	// Set by New, then read only.
	host  host.Host
	cfg   Config
	clock func() time.Time

	state state // changed by requests

	counts counts

	// announceURLs are the announce URLs for BitTorrent clients.
	announceURLs atomic.Pointer[[]string]

	streams tasks
	shares  *quota.Shared[netip.Addr] // of MaxStreams, by the host that a stream is charged to
}

// New starts a tracker on h, with a log unless that is nil. Close does not close h.
func New(h host.Host, log *slog.Logger) *Server { return newServer(h, Default(log), time.Now) }

func newServer(h host.Host, cfg Config, clock func() time.Time) *Server {
	s := &Server{host: h, cfg: cfg, clock: clock}
	s.state.init(cfg)
	s.streams.init()
	s.shares = quota.NewShared[netip.Addr](cfg.MaxStreams)
	h.SetStreamHandler(proto.TrackerProtocol, s.serve)
	cfg.Log.Info("tracker started", "peer", h.ID())
	return s
}

// SetAnnounceURLs sets the announce URLs for BitTorrent clients, for nodes that request them.
func (s *Server) SetAnnounceURLs(urls []string) {
	urls = slices.Clone(urls[:min(len(urls), proto.MaxLinkAddrs)])
	s.announceURLs.Store(&urls)
}

// Close stops the tracker: it resets the open streams and waits for their handlers.
// It may be called more than once.
func (s *Server) Close() error {
	if s.streams.end() {
		s.host.RemoveStreamHandler(proto.TrackerProtocol)
		s.cfg.Log.Info("tracker stopped", "peer", s.host.ID())
	}
	s.streams.running.Wait()
	return nil
}

// serve is the stream handler: one request, one reply.
func (s *Server) serve(st network.Stream) {
	release, ok := s.shares.Take(hostOf(st.Conn().RemoteMultiaddr()))
	if !ok {
		s.counts.overloaded.Add(1)
		st.ResetWithError(network.StreamResourceLimitExceeded)
		return
	}
	defer release()
	if !s.streams.add(1) {
		st.Reset()
		return
	}
	defer s.streams.running.Done()
	defer context.AfterFunc(s.streams.closing, func() { st.Reset() })()
	st.SetDeadline(time.Now().Add(s.cfg.Timeout))
	req, err := proto.ReadOpening(st)
	var reply proto.Message
	if err != nil {
		err = fmt.Errorf("bad request: %w", err)
	} else {
		reply, err = s.handle(st, req)
	}
	s.counts.requests.Add(1)
	if err != nil {
		bye := goodbye(err)
		s.counts.reject(bye.Code)
		s.cfg.Log.Debug("request rejected", "peer", st.Conn().RemotePeer(), "code", bye.Code, "reason", bye.Text)
		st.SetDeadline(time.Now().Add(goodbyeTimeout))
		reply = bye
	}
	if err := proto.WriteMessage(st, reply); err != nil {
		s.cfg.Log.Debug("reply not sent", "peer", st.Conn().RemotePeer(), "error", err)
		st.Reset()
		return
	}
	if a, ok := req.(*proto.Announce); ok && err == nil && st.CloseWrite() == nil {
		s.readReports(st, a.Swarm)
	}
	st.Close()
}

// handle handles a request. A member's id is the one that the connection of st proved.
func (s *Server) handle(st network.Stream, req proto.Message) (proto.Message, error) {
	id := proto.PeerID(st.Conn().RemotePeer())
	switch req := req.(type) {
	case *proto.Announce:
		if len(id) > proto.MaxPeerID {
			return nil, errors.New("the peer id is too long")
		}
		remote := st.Conn().RemoteMultiaddr()
		from := origin{id: id, addrs: memberAddrs(req.Addrs, remote), host: hostOf(remote)}
		if cert := membership.Of(st); cert != nil {
			if req.Cluster != cert.Cluster {
				return nil, &proto.RemoteError{Code: proto.CodeExcluded, Text: fmt.Sprintf(
					"the node announces cluster %s, but its certificate is for %s", req.Cluster, cert.Cluster)}
			}
			from.getOnly = !cert.Roles.Has(membership.Seed)
		}
		return s.announce(from, req)
	case *proto.HostsRequest:
		hosts, err := s.hosts(id, req)
		return &proto.Hosts{Hosts: hosts}, err
	case *proto.ScrapeRequest:
		return s.scrape(req.Swarm)
	case *proto.TopologyRequest:
		return s.topology(req.Swarm)
	case *proto.AnnounceURLsRequest:
		reply := &proto.AnnounceURLs{}
		if urls := s.announceURLs.Load(); urls != nil {
			reply.URLs = *urls
		}
		return reply, nil
	default:
		return nil, fmt.Errorf("message type %d is not a request to a tracker", proto.TypeOf(req))
	}
}

// maxReports bounds the messages that are read after an announce.
const maxReports = 2

// readReports reads the Received and Measured messages that may follow an announce.
func (s *Server) readReports(st network.Stream, swarm []byte) {
	for range maxReports {
		m, err := proto.ReadOpening(st)
		if err != nil {
			return
		}
		received, _ := m.(*proto.Received)
		measured, _ := m.(*proto.Measured)
		s.noteReports(proto.PeerID(st.Conn().RemotePeer()), swarm, received, measured)
	}
}

func (s *Server) noteReports(id proto.PeerID, swarm []byte, r *proto.Received, m *proto.Measured) {
	s.state.Lock()
	defer s.state.Unlock()
	if r != nil {
		s.state.table.received(s.clock(), id, swarm, r)
	}
	if m != nil {
		s.state.table.measured(s.clock(), id, swarm, m)
	}
}

// goodbye converts an error into a message, with the text cut to the message's limit. An error without a code is
// the fault of the request.
func goodbye(err error) *proto.Goodbye {
	text := strings.ToValidUTF8(err.Error(), "?")
	return &proto.Goodbye{
		Code: cmp.Or(proto.CodeOf(err), proto.CodeProtocol),
		Text: strings.ToValidUTF8(text[:min(len(text), proto.MaxText)], ""),
	}
}

func (s *Server) announce(from origin, a *proto.Announce) (*proto.AnnounceReply, error) {
	s.state.Lock()
	defer s.state.Unlock()
	now := s.clock()
	if a.Leaving {
		s.state.table.leave(now, a.Swarm, from.id)
		return &proto.AnnounceReply{Interval: seconds(s.cfg.Interval)}, nil
	}
	m, err := s.state.table.announce(now, from, a)
	if err != nil {
		return nil, err
	}
	return &proto.AnnounceReply{Interval: s.interval(m), Members: s.state.replyMembers(m)}, nil
}

// interval returns the announce interval of m in seconds.
func (s *Server) interval(m *member) uint32 {
	d := s.cfg.Interval
	if s.state.table.now.Sub(m.swarm.created) < youngFor && len(m.swarm.members) <= youngMembers {
		d /= youngDivisor
	}
	return seconds(s.state.jitter(d))
}

func seconds(d time.Duration) uint32 { return uint32(max(d.Round(time.Second)/time.Second, 1)) }

var errUnknownSwarm = &proto.RemoteError{Code: proto.CodeUnknownSwarm, Text: "the tracker knows no member of this swarm"}

func (s *Server) scrape(key []byte) (*proto.Scrape, error) {
	s.state.Lock()
	defer s.state.Unlock()
	if f := s.state.table.scrape(s.clock(), key); f != nil {
		return f, nil
	}
	return nil, errUnknownSwarm
}
