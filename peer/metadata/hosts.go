package metadata

import (
	"context"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// HostFinder finds hosts of planned swarms by their names. A [Finder] may be one besides.
type HostFinder interface {
	// Hosts tells trackers the name of this node's host, and returns those of the wanted hosts that
	// they know. The node has announced itself before. It blocks for a few seconds at most.
	Hosts(context.Context, *proto.HostsRequest) ([]proto.Host, error)
}

// maxWanted bounds the names in one request, in bytes: it must fit the first frame of a stream.
const maxWanted = proto.MaxOpening - 1<<10

// Hosts tells trackers the name of this node's host, and asks for others by name, in several requests if
// there are many. It returns nothing if the finder knows no names.
func Hosts(ctx context.Context, f Finder, key cid.Cid, name string, wanted []string) (found []proto.Host, err error) {
	finder, ok := f.(HostFinder)
	if !ok {
		return nil, nil
	}
	for first := true; first || len(wanted) > 0; first = false {
		n, size := 0, 0
		for n < len(wanted) && size+len(wanted[n]) < maxWanted && n < proto.MaxMembers {
			size += len(wanted[n]) + 3 // and the head of a text
			n++
		}
		hosts, err := finder.Hosts(ctx, &proto.HostsRequest{Swarm: key.Bytes(), Name: name, Wanted: wanted[:n]})
		if err != nil {
			return found, err
		}
		found, wanted = append(found, hosts...), wanted[n:]
	}
	return found, nil
}
