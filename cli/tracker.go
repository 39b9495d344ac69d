package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/host"
	"github.com/mobgrid/mob/tracker"
)

const trackerHelp = `Runs a tracker, which introduces the members of a swarm to each other. It holds no
content, and a transfer under way goes on without it.

The first line on standard output is the tracker's address, for --tracker of the
other commands. It holds the tracker's id, which is kept in the data folder: keep
that, and links stay good.`

const trackerExample = `  mob tracker --listen /ip4/0.0.0.0/tcp/4000
  mob tracker --listen /ip4/192.0.2.7/tcp/4000 --data /var/lib/mob-tracker`

func newTracker(g *global) *cobra.Command {
	var listen []string
	cmd := &cobra.Command{
		Use: "tracker --listen MULTIADDR", Short: "Run a tracker", Long: trackerHelp, Example: trackerExample,
		Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("log-level") {
				g.logLevel = "info"
			}
			return g.tracker(cmd, listen)
		},
	}
	cmd.Flags().StringArrayVar(&listen, "listen", nil, "address to listen at; may be given again")
	return cmd
}

func (g *global) tracker(cmd *cobra.Command, listen []string) error {
	if len(listen) == 0 {
		return wrong(cmd, "--listen is missing: give an address such as /ip4/0.0.0.0/tcp/4000")
	}
	addrs, err := parseListen(listen)
	if err != nil {
		return wrong(cmd, "%w", err)
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
	key, err := peer.LoadKey(dir)
	if err != nil {
		return err
	}
	h, err := host.New(key, addrs, nil)
	if err != nil {
		return err
	}
	defer h.Close()
	server := tracker.New(h, tracker.Config{Log: log})
	defer server.Close()
	fmt.Fprintln(g.Out, ownAddr(h, addrs[0]))
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
