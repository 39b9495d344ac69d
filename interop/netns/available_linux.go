package netns

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
)

// Available returns an error if this machine cannot make a grid. It tries every part in a namespace
// of its own, which takes some milliseconds.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("netns: a grid needs root, for network namespaces")
	}
	t := startThread()
	defer t.stop()
	ns, err := newNamespace(t)
	if err != nil {
		return fmt.Errorf("netns: not possible on this machine: %w", err)
	}
	if err := errors.Join(ns.do(tryParts), ns.close()); err != nil {
		return fmt.Errorf("netns: not possible on this machine: %w", err)
	}
	return nil
}

// tryParts makes one of each part of a grid.
func tryParts() error {
	if err := writeSysctl("net/ipv4/ip_forward", "1"); err != nil {
		return err
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.NewLinkAttrs()}
	bridge.Name = "bridge"
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("add a bridge: %w", err)
	}
	veth := netlink.NewVeth(netlink.NewLinkAttrs())
	veth.Name, veth.PeerName = "veth", "peer"
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("add a veth pair: %w", err)
	}
	return shape(veth.Index, 1*MBps, 0)
}
