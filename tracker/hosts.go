package tracker

import (
	"context"

	"github.com/mobgrid/mob/proto"
)

// Hosts sends the trackers the name of this node's host in a planned swarm, and asks for other hosts
// by their names. It returns those that some tracker knows, each once. It blocks for at most Timeout,
// and fails if no tracker has replied. The node has announced itself before.
func (c *Client) Hosts(ctx context.Context, req *proto.HostsRequest) ([]proto.Host, error) {
	replies, err := askAll[*proto.Hosts](ctx, c, req)
	if err != nil {
		return nil, err
	}
	var all []proto.Host
	for _, r := range replies {
		all = append(all, r.Hosts...)
	}
	return mergeByID(all, func(h *proto.Host) (proto.PeerID, *[][]byte) { return h.ID, &h.Addrs }), nil
}

// hosts handles a request for hosts by name. Names are not verified; of several members with one
// name, the last to announce it has it.
func (s *Server) hosts(id proto.PeerID, req *proto.HostsRequest) (hosts []proto.Host, _ error) {
	s.state.Lock()
	defer s.state.Unlock()
	m := s.state.table.member(s.clock(), req.Swarm, id)
	if m == nil {
		return nil, &proto.RemoteError{Code: proto.CodeUnknownSwarm, Text: "the node has not announced itself in this swarm"}
	}
	sw := m.swarm
	sw.setName(m, req.Name)
	for _, name := range req.Wanted {
		if m := sw.named[name]; m != nil && m.id != id {
			hosts = append(hosts, proto.Host{Name: name, ID: m.id, Cluster: m.cluster.name, Addrs: m.addrs})
		}
	}
	return hosts, nil
}

func (s *swarm) setName(m *member, name string) {
	if s.named[m.name] == m {
		delete(s.named, m.name)
	}
	m.name = name
	if name != "" {
		s.named[name] = m
	}
}
