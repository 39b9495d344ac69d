package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/address"
	"github.com/mobgrid/mob/cli/guests"
	"github.com/mobgrid/mob/proto"
)

const mobdHelp = `Runs the daemon of a node: it seeds and fetches what mob asks of it, serves others,
and remembers its transfers over restarts.

The first line on standard output is "ready" and the node's address. Commands
reach the daemon through the socket mobd.sock in the data folder. SIGTERM ends it.

Nodes that give the same --cluster form a mob: they should be near each other. A
configuration file has the flags' names as keys, in TOML; flags win over it.`

const mobdExample = `  mobd --cluster geneva --listen /ip4/0.0.0.0/tcp/4001 --data /var/lib/mob
  mobd --config /etc/mobd.toml

  # /etc/mobd.toml
  cluster = "geneva"
  listen  = "/ip4/0.0.0.0/tcp/4001"
  data    = "/var/lib/mob"
  tracker = ["/ip4/192.0.2.7/tcp/4000/p2p/12D3KooW..."]`

// nodeFlags are the flags that make a node.
type nodeFlags struct {
	cluster  string
	listen   []string
	data     string
	trackers []string
	guests   guests.Flags
	// btTrackers are those of BitTorrent clients, for links.
	btTrackers []string
	logLevel   string
	logJSON    bool
}

func newMobd(env *Env) *cobra.Command {
	var n nodeFlags
	var file string
	cmd := &cobra.Command{
		Use: "mobd --cluster NAME --listen MULTIADDR", Short: "Run the daemon of a node", Long: mobdHelp, Example: mobdExample,
		Args: args(0), Version: version(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				if err := loadConfig(file, cmd.Flags()); err != nil {
					return err
				}
			}
			return env.mobd(cmd, &n)
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.cluster, "cluster", "", "name of the cluster that the node belongs to")
	f.StringArrayVar(&n.listen, "listen", nil, "address to accept connections at; may be given again")
	f.StringVar(&n.data, "data", env.defaultData(), "data folder of the node, $MOB_DATA by default")
	f.StringArrayVar(&n.trackers, "tracker", nil, "tracker to ask for every transfer; may be given again")
	n.btTrackerFlag(f)
	n.guests.Add(f)
	f.StringVar(&n.logLevel, "log-level", "info", "what to log: debug, info, warn, error or off")
	f.BoolVar(&n.logJSON, "log-json", false, "log JSON lines")
	f.StringVar(&file, "config", "", "configuration file")
	return cmd
}

func (env *Env) mobd(cmd *cobra.Command, n *nodeFlags) error {
	if n.cluster == "" {
		return wrong(cmd, "--cluster is missing: name the cluster that this node belongs to")
	}
	if len(n.listen) == 0 {
		return wrong(cmd, "--listen is missing: give an address such as /ip4/0.0.0.0/tcp/4001")
	}
	cfg, err := n.config(env)
	if err != nil {
		return wrong(cmd, "%w", err)
	}
	d, err := startDaemon(cfg)
	if err != nil {
		return err
	}
	addr := address.Own(d.node.Host(), cfg.listen[0])
	cfg.log.Info("daemon runs", "cluster", cfg.cluster, "data", cfg.data, "addr", addr.String())
	if _, err := fmt.Fprintln(env.Out, "ready", addr); err != nil {
		return errors.Join(err, d.close())
	}
	<-cmd.Context().Done()
	cfg.log.Info("shutting down")
	return d.close()
}

// btTrackerFlag is for those who make links.
func (n *nodeFlags) btTrackerFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&n.btTrackers, "bt-tracker", nil, "announce URL of a BitTorrent tracker, for the links of seeds with --torrent; may be given again")
}

// config checks the flags.
func (n *nodeFlags) config(env *Env) (cfg nodeConfig, err error) {
	cfg.cluster = n.cluster
	if err := proto.CheckCluster(n.cluster); err != nil {
		return cfg, fmt.Errorf("--cluster: %w", err)
	}
	if cfg.data, err = dataFolder(n.data); err != nil {
		return cfg, err
	}
	if cfg.listen, err = address.ParseListen(n.listen); err != nil {
		return cfg, err
	}
	if cfg.trackers, err = address.ParseTrackers(n.trackers); err != nil {
		return cfg, err
	}
	for _, url := range n.btTrackers {
		if err := proto.CheckAnnounce(url); err != nil {
			return cfg, fmt.Errorf("--bt-tracker: %w", err)
		}
	}
	cfg.btTrackers = n.btTrackers
	if cfg.log, err = newLog(env.Err, n.logLevel, n.logJSON); err != nil {
		return cfg, err
	}
	cfg.guests, err = n.guests.Config(version(), cfg.log)
	return cfg, err
}
