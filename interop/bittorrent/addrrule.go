package bittorrent

import (
	"fmt"
	"net/netip"
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
	addr, by = addr.Unmap(), by.Unmap()
	first := addr.As16()[12]
	switch {
	case !addr.IsValid(), addr.IsUnspecified(), addr.Is4() && first == 0:
		return &refusedAddr{addr: addr, kind: "an unspecified"}
	case addr.IsMulticast(), addr.IsInterfaceLocalMulticast(), addr.Is4() && first >= 240:
		return &refusedAddr{addr: addr, kind: "a multicast or broadcast"}
	case addr.IsLoopback() && !by.IsLoopback():
		return &refusedAddr{addr: addr, kind: "a loopback"}
	case addr.IsLinkLocalUnicast() && !by.IsLinkLocalUnicast():
		return &refusedAddr{addr: addr, kind: "a link-local"}
	case addr.IsPrivate() && !by.IsPrivate() && !by.IsLoopback() && !r.nets.private():
		return &refusedAddr{addr: addr, kind: "a private", hint: ": this node has only public addresses"}
	}
	return nil
}
