package bittorrent

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/mobgrid/mob/proto/reach"
)

// addrRule decides which addresses from links and trackers the node connects to. It rejects addresses
// of services of the node's machine or network. A nil rule allows all addresses.
type addrRule struct {
	nets func() []netip.Prefix // of this machine
}

// check fails unless the node may connect to addr. by is the address of the tracker that returned addr. It is
// invalid for an address of a link. The error ends with the hint how to allow the address.
func (r *addrRule) check(addr, by netip.Addr, hint string) error {
	is, least := reach.Of(addr), reach.Everywhere
	if by.IsValid() {
		least = max(reach.Of(by), reach.ThisMachine)
	}
	if r == nil || is >= least {
		return nil
	}
	if is == reach.ThisSite {
		if slices.ContainsFunc(r.nets(), func(p netip.Prefix) bool { return reach.Of(p.Addr()) == reach.ThisSite }) {
			return nil
		}
		hint = ": this node has only public addresses"
	}
	kind := [...]string{
		reach.Nowhere:     "an unspecified, multicast or reserved",
		reach.ThisMachine: "a loopback",
		reach.ThisLink:    "a link-local",
		reach.ThisSite:    "a private",
	}[is]
	return fmt.Errorf("not connecting to %s, %s address%s", addr.Unmap(), kind, hint)
}
