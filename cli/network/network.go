package network

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

const networkHelp = `Makes and manages a private network: nodes and trackers that accept members only. Without
one, anyone who reaches a node and has a link may fetch the content, and names of clusters
are not verified.

A network has a secret, which signs the certificates of its members. There are two ways
to use it:

  one file on all nodes    --network FILE, with the secret: each node signs its own
                           certificate, and renews it. Anyone with the file can make
                           members.
  the secret stays away    --network ID --certificate CERT: "sign" makes the certificate
                           of each node and tracker; "id" prints the id to sign for.

A certificate names a node, its cluster with all its parts, and its roles: seed (add
content to the network), get (fetch content, and serve it), track (be a tracker). Clocks
may be two hours off. "revoke" ends memberships within seconds: the daemon or tracker
that gets the list (--revoked, then SIGHUP) forwards it to all members.

BitTorrent clients are not members: they are served where --bt-listen and --torrent
are given.`

const networkExample = `  mob network new /etc/mob/network                          # prints the id
  mobd --network /etc/mob/network --cluster geneva --listen /ip4/0.0.0.0/tcp/4001

  PEER=$(ssh node7 sudo -u mob mob --data /var/lib/mob network id)
  mob network sign network "$PEER" --cluster geneva > node7.cert
  mob network show node7.cert --join --tracker "$TRACKER" | ssh node7 sudo mob join -
  mob network revoke network "$PEER" > revoked`

func newNetwork(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "network new|show|id|sign|revoke", Short: "Manage the members of a private network", Long: networkHelp, Example: networkExample,
		Commands: []*cobra.Command{newNetworkNew(a), newNetworkShow(a), newNetworkID(a), newNetworkSign(a), newNetworkRevoke(a)},
	})
}

func newNetworkNew(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "new FILE", Short: "Make a network",
		Long:    "Writes the secret of a new network to FILE, with mode 0600, and prints its id.",
		Example: "  mob network new network",
		Args:    command.Args(1, "FILE"),
		Run: func(_ context.Context, a *command.App, given []string) error {
			if given[0] == "-" {
				return command.Usagef("the secret of a network is not printed: give a file; one of that name is ./-")
			}
			s, err := membership.NewSecret()
			if err != nil {
				return err
			}
			f, err := os.OpenFile(given[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return fmt.Errorf("the network was not made: %w", err)
			}
			_, err = f.Write(s.PEM())
			if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
				return errors.Join(err, os.Remove(given[0]))
			}
			_, err = fmt.Fprintln(a.Out, s.ID())
			return err
		},
	})
}

func newNetworkID(a *command.App) *cobra.Command {
	var tracker bool
	return a.Command(command.Spec{
		Use: "id", Short: "Print the id of this node",
		Long:    "Prints the id of the node of --data, or of the tracker there, for a certificate.\nIt makes the key if need be.",
		Example: "  mob network id\n  mob --data /var/lib/mob-tracker network id --tracker",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&tracker, "tracker", false, "the id of the tracker with this data directory")
		},
		Run: func(_ context.Context, a *command.App, _ []string) error {
			dir, err := command.DataDir(a.Data)
			if err == nil && tracker {
				dir, err = trackerDir(a.Data)
			}
			if err != nil {
				return err
			}
			if err := datadir.Create(dir); err != nil {
				return err
			}
			key, err := datadir.LoadKey(dir)
			if err != nil {
				return err
			}
			id, err := libpeer.IDFromPrivateKey(key)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Out, id)
			return err
		},
	})
}

const networkSignHelp = `Prints the certificate of a node or a tracker. ID is what "mob network id" prints there,
or its address.

--role is a list of seed, get and track. A node needs get, and seed to add content
to the network. A tracker needs track.`

func newNetworkSign(a *command.App) *cobra.Command {
	var cluster, roles string
	var days int
	return a.Command(command.Spec{
		Use: "sign FILE ID --cluster NAME", Short: "Print the certificate of a node", Long: networkSignHelp,
		Example: `  mob network sign network 12D3KooW... --cluster geneva > node7.cert
  mob network sign network 12D3KooW... --cluster geneva --role get --days 7 > guest.cert
  mob network sign network 12D3KooW... --cluster geneva --role track > tracker.cert`,
		Args: command.Args(2, "FILE", "ID"),
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&cluster, "cluster", "", "cluster of the node")
			f.StringVar(&roles, "role", membership.DefaultRoles.String(), "roles: a list of seed, get and track")
			f.IntVar(&days, "days", 90, "number of days that it is valid")
		},
		Run: func(_ context.Context, a *command.App, given []string) error {
			id, err := parsePeer(given[1])
			if err != nil {
				return command.Usagef("%w", err)
			}
			if cluster == "" {
				return command.Usagef("--cluster is missing: name the cluster of the node")
			}
			if err := proto.CheckCluster(cluster); err != nil {
				return command.Usagef("--cluster: %w", err)
			}
			r, err := membership.ParseRoles(roles)
			if err != nil {
				return command.Usagef("--role: %w", err)
			}
			if days < 1 || days > maxDays {
				return command.Usagef("--days %d: must be 1 to %d", days, maxDays)
			}
			if err := a.CheckOut(); err != nil {
				return err
			}
			s, err := membership.ReadSecret(given[0])
			if err != nil {
				return err
			}
			now := time.Now()
			grant, err := s.Sign(membership.Certificate{
				Peer: id, Cluster: cluster, Roles: r, From: now, To: now.AddDate(0, 0, days),
			})
			if err != nil {
				return err
			}
			_, err = a.Out.Write(grant.PEM())
			return err
		},
	})
}

// maxDays bounds --days: a hundred years.
const maxDays = 36500

const networkRevokeHelp = `Prints a list of all revoked members, and adds the members with the given IDs.
The list is kept in FILE.revoked. If that file is missing, the new list has the given IDs
only, and the command warns. FILE.revoked may contain several lists: the new list has the
members of all.

Daemons and trackers read it with --revoked, at the start or on SIGHUP, and forward it:
one of them is enough. The sessions of the members in it end within seconds. An id stays
revoked, also if a newer list does not contain it. Without an ID the new list has the same
members, or none. A member that had the secret can make new ids; then make a new network.`

func newNetworkRevoke(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "revoke FILE [ID]...", Short: "Print a list of revoked members", Long: networkRevokeHelp,
		Example: "  mob network revoke network 12D3KooW... > revoked && kill -HUP $(pidof mobd)",
		Args: func(_ *cobra.Command, given []string) error {
			if len(given) == 0 {
				return command.Usagef("FILE is missing")
			}
			return nil
		},
		Run: func(_ context.Context, a *command.App, given []string) error {
			ids := make([]libpeer.ID, len(given)-1)
			for i, text := range given[1:] {
				var err error
				if ids[i], err = parsePeer(text); err != nil {
					return command.Usagef("%w", err)
				}
			}
			l, err := revokeMembers(a, given[0], ids)
			if err != nil {
				return err
			}
			_, err = a.Out.Write(l.PEM())
			return err
		},
	})
}

// revokeMembers adds members to the list beside the file of a secret.
func revokeMembers(a *command.App, file string, ids []libpeer.ID) (*membership.List, error) {
	s, err := membership.ReadSecret(file)
	if err != nil {
		return nil, err
	}
	lock, err := os.Open(file) // another revoke must not lose what this one adds
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX) // NFS has no such lock for a file that is open for reading
	kept := file + ".revoked"
	var newest *membership.List
	switch old, err := membership.ReadLists(kept); {
	case errors.Is(err, fs.ErrNotExist):
		a.Note("%s is missing: the list names only the members given now. Nodes and trackers keep the lists they have. "+
			"If it is elsewhere, as beside another copy of the secret: cat OTHER.revoked >> %[1]s", kept)
	case err != nil:
		return nil, err
	default:
		newest, ids = old[0], slices.Concat(old.Peers(), ids)
	}
	l, err := s.Revoke(newest, time.Now(), ids...)
	if err != nil {
		return nil, err
	}
	return l, datadir.WriteFile(kept, l.PEM(), 0o644)
}

const networkShowHelp = `Prints the id of the network if FILE is a secret, or the fields of a certificate or of a
list of revoked members.

--join prints a line for "mob join" instead, which sets up a node: with the network, the
trackers and, if FILE is one, the certificate. With --with-secret it contains the
secret, for any number of nodes: anyone with that line can make members.`

func newNetworkShow(a *command.App) *cobra.Command {
	var j inviteFlags
	return a.Command(command.Spec{
		Use: "show FILE", Short: "Show a secret's network, a certificate or a list", Long: networkShowHelp,
		Example: `  ID=$(mob network show network)
  mob network show node7.cert --json
  mob network show node7.cert --join --tracker "$TRACKER" | ssh node7 sudo mob join -
  mob network show network --join --with-secret | ssh node8 sudo mob join - --cluster geneva`,
		Args: command.Args(1, "FILE"), Flags: j.add, JSON: true,
		Run: func(_ context.Context, a *command.App, given []string) error {
			if j.join {
				return runInvite(a, given[0], &j)
			}
			if j.secret || len(j.trackers) > 0 {
				return command.Usagef("--tracker and --with-secret are for --join")
			}
			return showNetwork(a, given[0])
		},
	})
}

func (j *inviteFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&j.join, "join", false, "print a line for mob join")
	f.StringArrayVar(&j.trackers, "tracker", nil, "tracker for that node; repeatable")
	f.BoolVar(&j.secret, "with-secret", false, "put the secret in the line: anyone with it can make members")
}

// inviteFlags are the flags of show for a line for join.
type inviteFlags struct {
	join, secret bool
	trackers     []string
}

// runInvite prints a line for join, and on standard error what to do with it.
func runInvite(a *command.App, file string, f *inviteFlags) error {
	trackers, err := daemon.ParseTrackers(f.trackers)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if len(trackers) > proto.MaxLinkAddrs {
		return command.Usagef("%d trackers, at most %d", len(trackers), proto.MaxLinkAddrs)
	}
	in := new(membership.Invitation)
	for _, t := range trackers {
		in.Trackers = append(in.Trackers, t.String())
	}
	hint := "on the node: sudo mob join LINE"
	if grant, err := membership.ReadGrant(file); err == nil {
		if f.secret {
			return command.Usagef("--with-secret: %s is a certificate, give the file of the secret", file)
		}
		in.Network, in.Grant = grant.Certificate.Network, grant
	} else {
		s, err := membership.ReadSecret(file)
		if err != nil {
			return err
		}
		in.Network = s.ID()
		if f.secret {
			in.Secret = s
			hint = "anyone with this line can make members; on the node: sudo mob join - --cluster NAME, with the line as input"
		}
	}
	a.Note("%s", hint)
	_, err = fmt.Fprintln(a.Out, in)
	return err
}

func showNetwork(a *command.App, file string) error {
	if grant, err := membership.ReadGrant(file); err == nil {
		return showCertificate(a, grant.Certificate)
	}
	if ls, err := membership.ReadLists(file); err == nil {
		return showRevoked(a, ls)
	}
	s, err := membership.ReadSecret(file)
	if err != nil {
		return err
	}
	id := s.ID().String()
	return a.Print(map[string]any{"network": id}, func(w term.TextWriter) { w.Line("%s", id) })
}

func showCertificate(a *command.App, c *membership.Certificate) error {
	v := map[string]any{
		"network": c.Network.String(), "id": c.Peer.String(), "cluster": c.Cluster,
		"roles": c.Roles.Names(), "from": c.From, "to": c.To,
	}
	return a.Print(v, func(w term.TextWriter) {
		w.Line("network   %s", c.Network)
		w.Line("node      %s", c.Peer)
		w.Line("cluster   %s", c.Cluster)
		w.Line("roles     %s", c.Roles)
		w.Line("from      %s", term.Date(c.From))
		w.Line("to        %s", term.Date(c.To))
	})
}

func showRevoked(a *command.App, ls membership.Lists) error {
	l, peers := ls[0], ls.Peers()
	ids := make([]string, len(peers))
	for i, id := range peers {
		ids[i] = id.String()
	}
	v := map[string]any{"network": l.Network.String(), "serial": l.Serial, "revoked": ids}
	return a.Print(v, func(w term.TextWriter) {
		w.Line("network   %s", l.Network)
		w.Line("serial    %d", l.Serial)
		term.List(w, "revoked", ids)
	})
}

// parsePeer parses the id of a node, or its address.
func parsePeer(text string) (libpeer.ID, error) {
	if id, err := libpeer.Decode(text); err == nil {
		return id, nil
	}
	if a, err := ma.NewMultiaddr(text); err == nil {
		if info, err := libpeer.AddrInfoFromP2pAddr(a); err == nil {
			return info.ID, nil
		}
	}
	return "", fmt.Errorf("%q is not the id of a node: `mob network id` prints it there", filepath.Base(text))
}
