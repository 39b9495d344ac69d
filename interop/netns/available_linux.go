package netns

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
)

// Available says why a grid cannot be made on this machine, nil if it can. It tries each part in a namespace of its own, which
// takes some milliseconds.
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

// tryParts makes one of each kind of thing a grid is made of.
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
