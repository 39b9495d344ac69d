package metadata

import (
	"context"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// Finder announces a node to trackers. It may be called from any goroutine.
type Finder interface {
	// Announce announces this node and returns members of the swarm. It blocks for a
	// few seconds at most.
	Announce(context.Context, *proto.Announce) (*proto.AnnounceReply, error)
	// Hosts sends trackers the name of this node's host in a planned swarm, and returns the wanted hosts that
	// they know. The node must have announced itself. It blocks for a few seconds at most.
	Hosts(context.Context, *proto.HostsRequest) ([]proto.Host, error)
}

// Announce announces a node under each key of a swarm, and returns the members that the
// trackers name. It fails if every announce does.
func Announce(ctx context.Context, f Finder, keys []cid.Cid, a proto.Announce) (*proto.AnnounceReply, error) {
	var all *proto.AnnounceReply
	var last error
	for _, key := range keys {
		a.Swarm = key.Bytes()
		h, err := f.Announce(ctx, &a)
		switch {
		case err != nil:
			last = err
		case all == nil:
			all = h
		default:
			all.Interval = min(all.Interval, h.Interval)
			all.Members = append(all.Members, h.Members...)
		}
	}
	if all != nil {
		return all, nil
	}
	return nil, last
}

// maxWanted bounds the names in one request, in bytes: it must fit the first frame of a stream.
const maxWanted = proto.MaxOpening - 1<<10

// Hosts sends trackers the name of this node's host, and asks for wanted hosts by name, in several requests
// if there are many.
func Hosts(ctx context.Context, f Finder, key cid.Cid, name string, wanted []string) (found []proto.Host, err error) {
	for first := true; first || len(wanted) > 0; first = false {
		n, size := 0, 0
		for n < len(wanted) && size+len(wanted[n]) < maxWanted && n < proto.MaxMembers {
			size += len(wanted[n]) + 3 // and the head of a text
			n++
		}
		hosts, err := f.Hosts(ctx, &proto.HostsRequest{Swarm: key.Bytes(), Name: name, Wanted: wanted[:n]})
		if err != nil {
			return found, err
		}
		found, wanted = append(found, hosts...), wanted[n:]
	}
	return found, nil
}
