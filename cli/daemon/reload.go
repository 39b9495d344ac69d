package daemon

import (
	"io"
	"log/slog"
	"slices"
	"sync"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// reloader reads the configuration of a daemon again on SIGHUP.
type reloader struct {
	env *command.Env
	log *slog.Logger

	mu       sync.Mutex
	settings []setting
	begins   func() (done func()) // may be nil
}

// setting is a part of the configuration that takes effect without a restart.
type setting struct {
	name string
	// apply applies the new flags and configuration. It returns what changed, as text, empty for nothing.
	// After an error the old value stays.
	apply func(*Flags) (changed string, err error)
}

func newReloader(env *command.Env, log *slog.Logger) *reloader { return &reloader{env: env, log: log} }

// add adds a setting, which a SIGHUP from now on applies.
func (r *reloader) add(name string, apply func(*Flags) (changed string, err error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = append(r.settings, setting{name, apply})
}

// notify calls begins before each reload, and done after it.
func (r *reloader) notify(begins func() (done func())) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begins = begins
}

// reload reads the configuration and applies each setting, also after an error in another.
func (r *reloader) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begins != nil {
		defer r.begins()()
	}
	n, err := r.read()
	if err != nil {
		r.log.Error("configuration not read again: nothing is changed", "error", err)
		return
	}
	same := true
	for _, s := range r.settings {
		changed, err := s.apply(n)
		switch {
		case err != nil:
			r.log.Error("configuration read again: the old value stays", "key", s.name, "error", err)
		case changed != "":
			r.log.Info("configuration read again", "key", s.name, "now", changed)
		}
		same = same && err == nil && changed == ""
	}
	if same {
		r.log.Info("configuration read again: nothing to change")
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

// reloadLogLevel sets the level of a log.
func reloadLogLevel(level *slog.LevelVar) func(*Flags) (string, error) {
	return func(n *Flags) (string, error) {
		l, err := command.ParseLogLevel(n.logLevel)
		if err != nil || l == level.Level() {
			return "", err
		}
		level.Set(l)
		return n.logLevel, nil
	}
}

// reloadTrackers sets the trackers of a node.
func reloadTrackers(node *peer.Node) func(*Flags) (string, error) {
	return func(n *Flags) (string, error) {
		trackers, err := ParseTrackers(n.Trackers)
		if err != nil || slices.EqualFunc(trackers, node.Trackers(), ma.Multiaddr.Equal) {
			return "", err
		}
		node.SetTrackers(trackers)
		return term.Plural(len(trackers), "tracker"), nil
	}
}
