package daemon

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

// Flags are the flags of a node.
type Flags struct {
	Cluster    string
	host       string
	Listen     []string
	data       string
	Trackers   []string
	network    NetworkFlags
	bt         btFlags
	BTTrackers []string // BitTorrent trackers for links
	limits     LimitFlags
	keep       keepTable
	web        WebFlags // of mobd alone
	logLevel   string
	logJSON    bool
	// socketGroup is of mobd alone.
	socketGroup string
	file        string         // the configuration file of mobd
	set         *pflag.FlagSet // nil without flags
}

// given reports whether any of some flags is given.
func (n *Flags) given(names ...string) bool {
	return n.set != nil && slices.ContainsFunc(names, n.set.Changed)
}

// defaultCluster returns the cluster of a node that a command runs.
func defaultCluster(env *command.Env) string { return cmp.Or(env.Getenv("MOB_CLUSTER"), "default") }

// Add adds the flags of a command that runs a node when there is no daemon.
func (n *Flags) Add(a *command.App, f *pflag.FlagSet) {
	n.set = f
	f.StringVar(&n.Cluster, "cluster", defaultCluster(a.Env), "cluster of this node, $MOB_CLUSTER by default; a daemon has its own")
	n.addHost(f)
	f.StringArrayVar(&n.Listen, "listen", []string{"/ip4/0.0.0.0/tcp/0"}, "address to listen on; a daemon has its own")
	f.StringArrayVar(&n.Trackers, "tracker", nil, "tracker to use; repeatable")
	n.network.Add(f)
	n.bt.add(f)
	n.limits.Add(f, false)
}

// addDaemon adds the flags of mobd.
func (n *Flags) addDaemon(env *command.Env, f *pflag.FlagSet) {
	n.set = f
	f.StringVar(&n.Cluster, "cluster", env.Getenv("MOB_CLUSTER"), "cluster of this node, $MOB_CLUSTER by default")
	n.addHost(f)
	f.StringArrayVar(&n.Listen, "listen", nil, "address to listen on; repeatable")
	f.StringVar(&n.data, "data", env.DefaultData(), "data directory of the node, $MOB_DATA by default")
	f.StringArrayVar(&n.Trackers, "tracker", nil, "tracker to use for every transfer; repeatable")
	n.network.Add(f)
	n.AddBTTrackers(f)
	n.bt.add(f)
	f.StringVar(&n.logLevel, "log-level", "info", "log level: debug, info, warn, error or off")
	f.BoolVar(&n.logJSON, "log-json", false, "log in JSON")
	n.limits.Add(f, true)
	n.web.Add(f)
	f.StringVar(&n.socketGroup, "socket-group", "", "group whose members may use the daemon for their own files; none by default")
	f.StringVar(&n.file, "config", "", "configuration file")
}

// readConfig reads the configuration file of mobd, if there is one. Flags that are set
// already stay.
func (n *Flags) readConfig() error {
	if n.file == "" {
		return nil
	}
	return loadConfig(n.file, n.set, tables{"limit": n.limits.readTable, "keep": n.keep.readTable})
}

// addHost adds the flag of the host's name.
func (n *Flags) addHost(f *pflag.FlagSet) {
	f.StringVar(&n.host, "host", "", "name of this host in the plans of planned transfers; the machine's by default")
}

// AddBTTrackers adds the flag of commands that make links or torrent files.
func (n *Flags) AddBTTrackers(f *pflag.FlagSet) {
	f.StringArrayVar(&n.BTTrackers, "bt-tracker", nil,
		"announce URL of a BitTorrent tracker, for seeds with --torrent; repeatable")
}

// config checks the flags, except for the network flags.
func (n *Flags) config(env *command.Env, network *membership.Config) (cfg Config, err error) {
	cfg.Config = peer.Config{Cluster: n.Cluster, Host: n.host, Network: network}
	cfg.btTrackers, cfg.keep, cfg.socketGroup = n.BTTrackers, n.keep.keep, n.socketGroup
	if err := CheckRoles(cfg.Network, membership.DefaultRoles); err != nil {
		return cfg, err
	}
	if err := proto.CheckCluster(n.Cluster); err != nil {
		return cfg, fmt.Errorf("--cluster: %w", err)
	}
	if err := proto.CheckHost(n.host); n.host != "" && err != nil {
		return cfg, fmt.Errorf("--host: %w", err)
	}
	if cfg.Data, err = command.DataDir(n.data); err != nil {
		return cfg, err
	}
	if cfg.Listen, err = ParseListen(n.Listen); err != nil {
		return cfg, err
	}
	if cfg.Trackers, err = ParseTrackers(n.Trackers); err != nil {
		return cfg, err
	}
	if err := CheckBTTrackers(n.BTTrackers); err != nil {
		return cfg, err
	}
	limits, schedule, err := n.limits.config()
	if err != nil {
		return cfg, err
	}
	cfg.policy = limit.NewPolicy(limits, schedule)
	if cfg.Log, cfg.logLevel, err = command.NewLog(env.Err, n.logLevel, n.logJSON); err != nil {
		return cfg, err
	}
	cfg.bittorrent, err = n.bt.config(n.BTTrackers, cfg.Log)
	return cfg, err
}

// CheckBTTrackers checks the values of --bt-tracker.
func CheckBTTrackers(urls []string) error {
	for _, url := range urls {
		if err := proto.CheckAnnounce(url); err != nil {
			return fmt.Errorf("--bt-tracker: %w", err)
		}
	}
	return nil
}
