package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bittorrent"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

// Flags are the flags of a node. Some are fields of its configuration, which config completes.
type Flags struct {
	peer.Config
	ListenAddrs  []string
	TrackerAddrs []string
	BTTrackers   []string // BitTorrent trackers for links
	network      NetworkFlags
	bt           btFlags
	limits       LimitFlags
	keep         peer.Keep
	web          WebFlags // of mobd alone
	level        string
	logJSON      bool
	socketGroup  string         // its members may use the control socket of mobd; empty for none
	file         string         // the configuration file of mobd
	set          *pflag.FlagSet // nil without flags

	// by config
	bittorrent *bittorrent.Config // nil for no BitTorrent clients
	policy     *limit.Policy
	logLevel   *slog.LevelVar // of Log
}

// LocalFlags are the flags of a node that other nodes need not reach.
func LocalFlags() *Flags {
	return &Flags{Config: peer.Config{Cluster: "default"}, ListenAddrs: []string{Loopback().String()}}
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
	f.StringArrayVar(&n.ListenAddrs, "listen", []string{"/ip4/0.0.0.0/tcp/0"}, "address to listen on; a daemon has its own")
	f.StringArrayVar(&n.TrackerAddrs, "tracker", nil, "tracker to use; repeatable")
	n.network.Add(f)
	n.bt.add(f)
	n.limits.Add(f, false)
}

// addDaemon adds the flags of mobd.
func (n *Flags) addDaemon(env *command.Env, f *pflag.FlagSet) {
	n.set = f
	f.StringVar(&n.Cluster, "cluster", env.Getenv("MOB_CLUSTER"), "cluster of this node, $MOB_CLUSTER by default")
	n.addHost(f)
	f.StringArrayVar(&n.ListenAddrs, "listen", nil, "address to listen on; repeatable")
	f.StringVar(&n.Data, "data", env.DefaultData(), "data directory of the node, $MOB_DATA by default")
	f.StringArrayVar(&n.TrackerAddrs, "tracker", nil, "tracker to use for every transfer; repeatable")
	n.network.Add(f)
	n.AddBTTrackers(f)
	n.bt.add(f)
	f.StringVar(&n.level, "log-level", "info", "log level: debug, info, warn, error or off")
	f.BoolVar(&n.logJSON, "log-json", false, "log in JSON")
	n.limits.Add(f, true)
	n.web.Add(f)
	f.StringVar(&n.socketGroup, "socket-group", "", "group whose members may use the daemon for their own files; none by default")
	f.StringVar(&n.file, "config", "", "configuration file")
}

// readConfig reads the configuration file of mobd, if there is one. Flags that are set already stay.
func (n *Flags) readConfig() error {
	if n.file == "" {
		return nil
	}
	return loadConfig(n.file, n.set, map[string]func(any) error{
		"limit": n.limits.readTable,
		"keep":  func(value any) (err error) { n.keep, err = readKeep(value); return err },
	})
}

// addHost adds the flag of the host's name.
func (n *Flags) addHost(f *pflag.FlagSet) {
	f.StringVar(&n.Host, "host", "", "name of this host in the plans of planned transfers; the machine's by default")
}

// AddBTTrackers adds the flag of commands that make links or torrent files.
func (n *Flags) AddBTTrackers(f *pflag.FlagSet) {
	f.StringArrayVar(&n.BTTrackers, "bt-tracker", nil,
		"announce URL of a BitTorrent tracker, for seeds with --torrent; repeatable")
}

// config checks the flags and completes the configuration. A certificate has the cluster of the node, unless a flag does.
func (n *Flags) config(env *command.Env) (err error) {
	if n.Network, err = n.network.Config(membership.DefaultRoles); err != nil {
		return err
	}
	if n.Network != nil && n.Network.Grant != nil && !n.given("cluster") {
		n.Cluster = n.Network.Grant.Certificate.Cluster
	}
	switch {
	case n.Cluster == "":
		return errors.New("--cluster is missing: name the cluster of this node")
	case len(n.ListenAddrs) == 0:
		return errors.New("--listen is missing: give an address such as /ip4/0.0.0.0/tcp/4001")
	}
	if err := proto.CheckCluster(n.Cluster); err != nil {
		return fmt.Errorf("--cluster: %w", err)
	}
	if err := proto.CheckHost(n.Host); n.Host != "" && err != nil {
		return fmt.Errorf("--host: %w", err)
	}
	if n.Data, err = command.DataDir(n.Data); err != nil {
		return err
	}
	if n.Listen, err = ParseListen(n.ListenAddrs); err != nil {
		return err
	}
	if n.Trackers, err = ParseTrackers(n.TrackerAddrs); err != nil {
		return err
	}
	if err := CheckBTTrackers(n.BTTrackers); err != nil {
		return err
	}
	limits, err := n.limits.Change()
	if err != nil {
		return err
	}
	n.policy = limit.NewPolicy(limits.Apply(limit.Limits{}), n.limits.schedule)
	if n.Log, n.logLevel, err = command.NewLog(env.Err, n.level, n.logJSON); err != nil {
		return err
	}
	n.bittorrent, err = n.bt.config(n.BTTrackers, n.Log)
	return err
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
