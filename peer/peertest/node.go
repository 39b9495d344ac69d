package peertest

import (
	"log/slog"
	"os"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/swarm"
)

// Option is an option of [Start] and [Clusters].
type Option func(*setup)

// setup is how a node is started.
type setup struct {
	t      testing.TB
	index  int // of the node within [Clusters]
	cfg    peer.Config
	faults swarm.Faults
	gate   *Gate // or nil
}

// Data sets the data directory, for a node that is started again. The default is a new one.
func Data(dir string) Option { return func(s *setup) { s.cfg.Data = dir } }

// Log sets the log. The default logs warnings to standard error, and with -v everything.
func Log(l *slog.Logger) Option { return func(s *setup) { s.cfg.Log = l } }

// Configure changes the configuration.
func Configure(change func(*peer.Config)) Option { return func(s *setup) { change(&s.cfg) } }

// WithFaults injects faults into every swarm of the node.
func WithFaults(f swarm.Faults) Option { return func(s *setup) { s.faults = f } }

// WithPolluter makes the node pollute its swarms while p is switched on.
func WithPolluter(p *Polluter) Option {
	return func(s *setup) {
		key, err := datadir.LoadKey(s.cfg.Data)
		if err != nil {
			s.t.Fatal(err)
		}
		s.faults = p.Faults(key)
	}
}

// At applies options to one of the nodes that [Clusters] starts.
func At(index int, opts ...Option) Option {
	return func(s *setup) {
		if s.index != index {
			return
		}
		for _, o := range opts {
			o(s)
		}
	}
}

// Start starts a node of a cluster on loopback. It has no tracker: links must name peers.
func Start(t testing.TB, cluster string, opts ...Option) *peer.Node {
	t.Helper()
	return start(t, 0, cluster, opts)
}

// Clusters starts a number of nodes in each of some clusters, A, B and so on. They find each
// other by a common tracker. The nodes of A are first.
func Clusters(t testing.TB, clusters, members int, opts ...Option) []*peer.Node {
	t.Helper()
	tracker := NewTracker()
	var nodes []*peer.Node
	for c := range clusters {
		for range members {
			nodes = append(nodes, start(t, len(nodes), string(rune('A'+c)), append(opts, tracker.option)))
		}
	}
	return nodes
}

func start(t testing.TB, index int, cluster string, opts []Option) *peer.Node {
	t.Helper()
	level := slog.LevelWarn
	if testing.Verbose() {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	s := &setup{
		t:     t,
		index: index,
		cfg:   peer.Config{Data: t.TempDir(), Cluster: cluster, Log: log.With("node", cluster)},
	}
	for _, o := range opts {
		o(s)
	}
	_ = os.Chmod(s.cfg.Data, 0o700) // the umask of the test may let other users write to it
	n, err := peer.Start(s.cfg, peer.WithFaults(s.faults))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.gate != nil {
			s.gate.Open()
		}
		n.Close()
	})
	return n
}
