package bittorrent

import (
	"fmt"
	"net/netip"

	"github.com/mobgrid/mob/proto/reach"
)

// addrRule decides which addresses the node connects to. Links and trackers come from anyone, and must not
// make it send requests to services of its own machine or network that are for local programs. A nil
// rule allows all addresses.
type addrRule struct{ nets *localNets }

// refusedAddr is the error of an address that the rule does not allow.
type refusedAddr struct {
	addr netip.Addr
	kind string
	hint string
}

func (e *refusedAddr) Error() string {
	return fmt.Sprintf("refused to connect to %s, %s address%s", e.addr, e.kind, e.hint)
}

// trackerHint is how to allow a tracker.
const trackerHint = ": if the tracker is yours, give mobd --bt-tracker with this URL"

// check fails unless the node connects to an address. by is the address of the tracker that returned it, invalid
// for an address of a link.
func (r *addrRule) check(addr, by netip.Addr) error {
	if r == nil {
		return nil
	}
	least := reach.Everywhere
	if r.nets.private() {
		least = reach.ThisSite
	}
	if by.IsValid() {
		least = min(least, max(reach.Of(by), reach.ThisMachine))
	}
	is := reach.Of(addr)
	if is >= least {
		return nil
	}
	refused := &refusedAddr{addr: addr.Unmap()}
	switch is {
	case reach.ThisMachine:
		refused.kind = "a loopback"
	case reach.ThisLink:
		refused.kind = "a link-local"
	case reach.ThisSite:
		refused.kind, refused.hint = "a private", ": this node has only public addresses"
	default:
		refused.kind = "an unspecified, multicast or reserved"
	}
	return refused
}
