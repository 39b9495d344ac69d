package daemon

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
)

const help = `Runs the daemon of a node. It seeds and fetches what mob commands ask for, serves
other nodes, and resumes its transfers after a restart.

Once it runs it prints "ready" and the node's address on standard output. Commands reach
it through the socket mobd.sock in the data directory. SIGTERM stops it. On SIGHUP it
reads limits, trackers, log-level, certificate, revoked and [keep] again from the
configuration file.

Nodes with the same --cluster form a mob; they should share a fast network. A name such
as geneva/rack3 is of a rack: each byte enters the site geneva once, and each of its
racks once. --config reads a TOML file with the names of flags as keys. Flags take
precedence over it.

In it, [[limit]] limits some hours of some days, in local time. Hours such as
22:00-06:00 end on the next day. Where entries overlap, the later one counts. Local time
is the time zone $TZ, such as Europe/Berlin, by default the machine's.

[keep] ends transfers: for is the time that they stay, such as "30d" or "12h", disk the
size of all downloads beyond which the oldest ends, and delete = true deletes the files
of downloads that end. Seeded files are never deleted.

Without --network anyone who reaches the daemon and has a link may fetch the content, and
names of clusters are not verified. With it the daemon accepts members of that network
only: see "mob network --help".`

const example = `  mobd --cluster geneva --listen /ip4/0.0.0.0/tcp/4001 --data /var/lib/mob
  mobd --cluster geneva/rack3 --listen /ip4/0.0.0.0/tcp/4001 --data /var/lib/mob
  mobd --config /etc/mobd.toml
  mobd --network "$ID" --certificate cert --listen /ip4/0.0.0.0/tcp/4001

  # /etc/mobd.toml
  cluster = "geneva"
  listen  = "/ip4/0.0.0.0/tcp/4001"
  data    = "/var/lib/mob"
  tracker = ["/ip4/192.0.2.7/tcp/4000/p2p/12D3KooW..."]
  wan-down = "100MB"

  [[limit]]
  days     = "mon-fri"
  hours    = "08:00-18:00"
  wan-down = "20MB"`

// Command returns the command mobd.
func Command(env *command.Env) *cobra.Command {
	var n Flags
	a := &command.App{Env: env}
	return a.Command(command.Spec{
		Use: "mobd --cluster NAME --listen MULTIADDR", Short: "Run the daemon of a node", Long: help, Example: example,
		Flags: func(f *pflag.FlagSet) { n.addDaemon(env, f) },
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			if err := n.readConfig(); err != nil {
				return err
			}
			return runMobd(ctx, a.Env, &n)
		},
	})
}

func runMobd(ctx context.Context, env *command.Env, n *Flags) error {
	if err := cmp.Or(n.config(env), checkZone(env.Getenv("TZ"))); err != nil {
		return command.Usagef("%w", err)
	}
	var starting sync.Mutex // a SIGHUP waits for the end of the start
	starting.Lock()
	var r *reloader
	defer command.OnHangup(func() {
		starting.Lock()
		defer starting.Unlock()
		if r != nil {
			r.reload()
		}
	})()
	started := sync.OnceFunc(starting.Unlock)
	defer started()
	site, err := n.web.Open(env, n.Data, n.Log)
	if err != nil {
		return err
	}
	defer site.Close()
	d, err := start(n, false)
	if err != nil {
		return err
	}
	d.node.SetKeep(n.keep)
	d.feeds.StartAll()
	site.Start(d.register)
	systemd := NewNotifier(env.Getenv, n.Log, d.health)
	r = &reloader{env, n, d.node, systemd}
	started()
	addr := OwnAddr(d.node.Host(), n.Listen[0])
	n.Log.Info("daemon started", "cluster", n.Cluster, "data", n.Data, "addr", addr.String())
	LogNetwork(n.Log, d.node.Membership())
	return errors.Join(systemd.Run(ctx, env.Out, "ready", addr), d.close())
}
