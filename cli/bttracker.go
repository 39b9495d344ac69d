package cli

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/tracker/bittorrent"
)

// btTracker is what the flags of `mob tracker` say of BitTorrent.
type btTracker struct {
	listen   []string
	torrents string
}

func (b *btTracker) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&b.listen, "bt-listen", nil, "ADDR:PORT to serve BitTorrent clients at, by HTTP and UDP; may be given again")
	cmd.Flags().StringVar(&b.torrents, "torrents", "", "file with the info-hashes that BitTorrent clients may use, one a line; all by default")
}

func (b *btTracker) check(cmd *cobra.Command) error {
	if b.torrents != "" && len(b.listen) == 0 {
		return wrong(cmd, "--torrents is for BitTorrent clients: give --bt-listen as well")
	}
	for _, addr := range b.listen {
		if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
			return wrong(cmd, "cannot listen at %q: give --bt-listen an address and a port such as 0.0.0.0:6969", addr)
		}
	}
	return nil
}

// start runs the tracker, when there is one, and prints where. The function that it
// returns ends it.
func (b *btTracker) start(env *Env, cfg bittorrent.Config) (stop func(), err error) {
	if len(b.listen) == 0 {
		return func() {}, nil
	}
	cfg.Torrents = b.torrents
	s, err := bittorrent.Listen(b.listen, cfg)
	if err != nil {
		return nil, err
	}
	for _, url := range announceURLs(s.Addrs()) {
		env.note("BitTorrent announce URL: %s", url)
	}
	reload := make(chan os.Signal, 1)
	if b.torrents != "" {
		signal.Notify(reload, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range reload {
			if err := s.Reload(); err != nil {
				cfg.Log.Error("the list of torrents stays as it was", "error", err)
			}
		}
	}()
	return func() {
		signal.Stop(reload)
		close(reload)
		<-done
		s.Close()
	}, nil
}

// announceURLs are what clients are told of a tracker that listens at the given
// addresses.
func announceURLs(listen []netip.AddrPort) []string {
	var urls []string
	for _, scheme := range []string{"http", "udp"} {
		for _, at := range listen {
			for _, ip := range dialable(at.Addr()) {
				urls = append(urls, fmt.Sprintf("%s://%v/announce", scheme, netip.AddrPortFrom(ip, at.Port())))
			}
		}
	}
	return urls
}

// dialable is where others reach who listens at an address: an unspecified one
// stands for all of this machine, and that of IPv6 for IPv4 as well.
func dialable(a netip.Addr) []netip.Addr {
	if !a.IsUnspecified() {
		return []netip.Addr{a}
	}
	families := []int{ma.P_IP4}
	if a.Is6() {
		families = append(families, ma.P_IP6)
	}
	var out []netip.Addr
	for _, family := range families {
		if ip, ok := ownIP(family); ok {
			out = append(out, ip)
		}
	}
	if len(out) == 0 {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	return out
}

// ownIP is the address of a family that this machine's default route uses, or else
// the first that others may reach.
func ownIP(family int) (netip.Addr, bool) {
	if ip, ok := netip.AddrFromSlice(routeIP(family)); ok {
		return ip.Unmap(), true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, false
	}
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().IsGlobalUnicast() && p.Addr().Is4() == (family == ma.P_IP4) {
			return p.Addr(), true
		}
	}
	return netip.Addr{}, false
}
