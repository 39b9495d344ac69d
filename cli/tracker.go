package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/address"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/tracker"
	"github.com/mobgrid/mob/tracker/bittorrent"
)

const trackerHelp = `Runs a tracker, which introduces the members of a swarm to each other. It holds no
content, and a transfer under way goes on without it.

The first line on standard output is the tracker's address, for --tracker of the
other commands. It holds the tracker's id, which is kept in the data folder: keep
that, and links stay good.

With --bt-listen it serves stock BitTorrent clients too, by HTTP and by UDP on one
port number, and prints the announce URLs for them on standard error. With
--torrents only those are served that are on the list: an info-hash of 40
hexadecimal digits on each line. SIGHUP has the list read again.`

const trackerExample = `  mob tracker --listen /ip4/0.0.0.0/tcp/4000
  mob tracker --listen /ip4/192.0.2.7/tcp/4000 --data /var/lib/mob-tracker
  mob tracker --listen /ip4/0.0.0.0/tcp/4000 --bt-listen 0.0.0.0:6969 --torrents list`

func newTracker(g *global) *cobra.Command {
	var listen []string
	var bt btTracker
	cmd := &cobra.Command{
		Use: "tracker --listen MULTIADDR", Short: "Run a tracker", Long: trackerHelp, Example: trackerExample,
		Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("log-level") {
				g.logLevel = "info"
			}
			return g.tracker(cmd, listen, &bt)
		},
	}
	cmd.Flags().StringArrayVar(&listen, "listen", nil, "address to listen at; may be given again")
	bt.flags(cmd)
	return cmd
}

func (g *global) tracker(cmd *cobra.Command, listen []string, bt *btTracker) error {
	if len(listen) == 0 {
		return wrong(cmd, "--listen is missing: give an address such as /ip4/0.0.0.0/tcp/4000")
	}
	addrs, err := address.ParseListen(listen)
	if err != nil {
		return wrong(cmd, "%w", err)
	}
	if err := bt.check(cmd); err != nil {
		return err
	}
	log, err := newLog(g.Err, g.logLevel, false)
	if err != nil {
		return wrong(cmd, "%w", err)
	}
	dir, err := dataFolder(g.data)
	if err != nil {
		return err
	}
	if dir, err = trackerFolder(dir); err != nil {
		return err
	}
	key, err := datadir.LoadKey(dir)
	if err != nil {
		return err
	}
	h, err := transport.NewHost(key, addrs, nil)
	if err != nil {
		return err
	}
	defer h.Close()
	server := tracker.New(h, tracker.Config{Log: log})
	defer server.Close()
	stop, err := bt.start(g.Env, bittorrent.Config{Log: log})
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintln(g.Out, address.Own(h, addrs[0]))
	<-cmd.Context().Done()
	log.Info("shutting down")
	return nil
}

// trackerFolder is the folder for a tracker's key. It is not that of a node,
// which may have the same data folder: two with one identity confuse everybody.
func trackerFolder(data string) (string, error) {
	dir := data + string(os.PathSeparator) + "tracker"
	return dir, os.MkdirAll(dir, 0o700)
}
