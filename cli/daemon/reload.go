package daemon

import (
	"fmt"
	"io"
	"slices"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
)

// reloader reads the configuration of a daemon again on SIGHUP.
type reloader struct {
	env     *command.Env
	flags   *Flags // in force
	node    *peer.Node
	systemd *Notifier
}

// reloaded are the flags that reload applies, and data, whose value in force is absolute.
//
//nolint:gochecknoglobals // constant
var reloaded = append([]string{"data", "log-level", "tracker", "network", "certificate", "revoked"}, limit.Names[:]...)

// reload reads the configuration and applies each setting, also after an error in another, which keeps its old value.
func (r *reloader) reload() {
	defer r.systemd.Reloading()()
	log := r.flags.Log
	n, err := r.read()
	if err != nil {
		log.Error("configuration not read again: nothing is changed", "error", err)
		return
	}
	same := true
	n.set.Visit(func(f *pflag.Flag) {
		if r.flags.set.Lookup(f.Name).Value.String() != f.Value.String() && !slices.Contains(reloaded, f.Name) {
			same = false
			log.Warn("configuration read again: the change needs a restart", "key", f.Name)
		}
	})
	for _, s := range []struct {
		name  string
		apply func(*Flags) (changed string, err error) // changed is text, empty for no change
	}{
		{"log-level", r.logLevel},
		{"limits", r.limits},
		{"trackers", r.trackers},
		{"keep", r.keep},
		{"network", func(n *Flags) (string, error) { return n.network.Reload(r.node.Membership(), membership.DefaultRoles) }},
	} {
		changed, err := s.apply(n)
		switch {
		case err != nil:
			log.Error("configuration read again: the old value stays", "key", s.name, "error", err)
		case changed != "":
			log.Info("configuration read again", "key", s.name, "now", changed)
		}
		same = same && err == nil && changed == ""
	}
	if same {
		log.Info("configuration read again: nothing to change")
	}
}

// read returns the flags of the command line and the configuration file.
func (r *reloader) read() (*Flags, error) {
	n := new(Flags)
	f := pflag.NewFlagSet("mobd", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	n.addDaemon(r.env, f)
	if err := f.Parse(r.env.Args); err != nil {
		return nil, err
	}
	return n, n.readConfig()
}

func (r *reloader) logLevel(n *Flags) (string, error) {
	l, err := command.ParseLogLevel(n.level)
	if err != nil || l == r.flags.logLevel.Level() {
		return "", err
	}
	r.flags.logLevel.Set(l)
	return n.level, nil
}

func (r *reloader) limits(n *Flags) (string, error) {
	c, err := n.limits.Change()
	base := c.Apply(limit.Limits{})
	if err != nil || !r.flags.policy.Configure(base, n.limits.schedule) {
		return "", err
	}
	return fmt.Sprintf("%v, %s of schedule", base, term.Plural(len(n.limits.schedule), "line")), nil
}

func (r *reloader) trackers(n *Flags) (string, error) {
	trackers, err := ParseTrackers(n.TrackerAddrs)
	if err != nil || slices.EqualFunc(trackers, r.node.Trackers(), ma.Multiaddr.Equal) {
		return "", err
	}
	r.node.SetTrackers(trackers)
	return term.Plural(len(trackers), "tracker"), nil
}

func (r *reloader) keep(n *Flags) (string, error) {
	k := n.keep
	if k == r.flags.keep {
		return "", nil
	}
	r.flags.keep = k
	r.node.SetKeep(k)
	return fmt.Sprintf("for %v, disk %s, delete %t", k.For, term.Bytes(k.Disk), k.Delete), nil
}
