package bittorrent

import (
	"fmt"
	"net/netip"

	"github.com/mobgrid/mob/proto/reach"
)

// addrRule decides which addresses from links and trackers the node connects to. It rejects addresses
// of services of the node's machine or network. A nil rule allows all addresses.
type addrRule struct{ nets *localNets }

// rejectedAddr is the error of an address that the rule does not allow.
type rejectedAddr struct {
	addr netip.Addr
	kind string
	hint string
}

func (e *rejectedAddr) Error() string {
	return fmt.Sprintf("not connecting to %s, %s address%s", e.addr, e.kind, e.hint)
}

// trackerHint is the hint how to allow a tracker.
const trackerHint = ": if the tracker is yours, start mobd with --bt-tracker and its URL"

// check fails unless the node may connect to addr. by is the address of the tracker that returned addr. It is
// invalid for an address of a link.
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
	rejected := &rejectedAddr{addr: addr.Unmap(), kind: [...]string{
		reach.Nowhere:     "an unspecified, multicast or reserved",
		reach.ThisMachine: "a loopback",
		reach.ThisLink:    "a link-local",
		reach.ThisSite:    "a private",
	}[is]}
	if is == reach.ThisSite {
		rejected.hint = ": this node has only public addresses"
	}
	return rejected
}
