package cli

import (
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/address"
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
	for _, url := range address.AnnounceURLs(s.Addrs()) {
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
