package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/peer/datadir"
)

const (
	// startTimeout is how long a daemon that has locked its folder may take to
	// open its socket.
	startTimeout = 3 * time.Second
	// cleanupTimeout bounds what a command does after an interrupt.
	cleanupTimeout = 10 * time.Second
)

// session is a connection to the daemon of a data folder.
type session struct {
	*control.Client
	own *daemon // the daemon, when this command runs it
	dir string  // data folder to delete at the end, or empty
}

// dial connects to the daemon of the data folder.
func dial(ctx context.Context, g *command.App) (*session, error) {
	dir, err := command.DataDir(g.Data)
	if err != nil {
		return nil, err
	}
	c, err := control.Dial(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &session{Client: c}, nil
}

// dialOrRun connects to the daemon of the data folder, or runs one within the
// command until the session is closed.
func dialOrRun(g *command.App, cmd *cobra.Command, n *nodeFlags) (*session, error) {
	n.data, n.logLevel = g.Data, g.LogLevel
	proved, err := n.network.cluster()
	if err != nil {
		return nil, command.Usagef(cmd, "%w", err)
	}
	if proved != "" && !cmd.Flags().Changed("cluster") {
		n.cluster = proved
	}
	cfg, err := n.config(g.Env)
	if err != nil {
		return nil, command.Usagef(cmd, "%w", err)
	}
	ctx := cmd.Context()
	s, err := dial(ctx, g)
	if err == nil {
		if f := cmd.Flags(); f.Changed("cluster") || f.Changed("host") || f.Changed("listen") || f.Changed("bt-listen") {
			g.Note("note: --cluster, --host, --listen and --bt-listen are ignored: the daemon of %s has its own", cfg.data)
		}
		if cfg.network != nil {
			g.Note("note: --network is ignored: the daemon of %s has its own", cfg.data)
		}
		if c, _ := n.limits.change(); !c.IsZero() {
			g.Note("note: limits are ignored: `mob limit` changes those of the daemon of %s", cfg.data)
		}
		return s, nil
	}
	var none *control.NoDaemonError
	if !errors.As(err, &none) {
		return nil, err
	}
	s, err = runSession(ctx, cfg)
	var inUse *datadir.InUseError
	if errors.As(err, &inUse) {
		return dialSoon(ctx, g, err)
	}
	return s, err
}

// dialOrRunTemporary connects to the daemon of the data folder. When there is
// none, and c is a link, it runs a node in a temporary folder: one in the data
// folder would resume the transfers there.
func dialOrRunTemporary(ctx context.Context, g *command.App, c content, n *networkFlags) (*session, error) {
	s, err := dial(ctx, g)
	var none *control.NoDaemonError
	if !errors.As(err, &none) || c.link == nil {
		return s, err
	}
	network, err := n.config()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mob-")
	if err != nil {
		return nil, err
	}
	cluster := "default"
	if network != nil && network.Grant != nil { // it is for the key of the data folder
		cluster = network.Grant.Certificate.Cluster
		if err := lendKey(g, dir); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	s, err = runSession(ctx, daemonConfig{
		cluster: cluster,
		network: network,
		data:    dir,
		listen:  []ma.Multiaddr{loopback()},
		log:     slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.dir = dir
	return s, nil
}

// lendKey copies the key of the data folder to a temporary one.
func lendKey(g *command.App, dir string) error {
	data, err := command.DataDir(g.Data)
	if err != nil {
		return err
	}
	return datadir.CopyKey(data, dir)
}

// runSession runs a daemon within the command and connects to it.
func runSession(ctx context.Context, cfg daemonConfig) (*session, error) {
	d, err := startDaemon(cfg)
	if err != nil {
		return nil, err
	}
	c, err := control.Dial(ctx, cfg.data)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return &session{Client: c, own: d}, nil
}

// dialSoon connects to a daemon that has locked the data folder and is about to
// open its socket. It returns locked when that does not happen.
func dialSoon(ctx context.Context, g *command.App, locked error) (*session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, locked)
	defer cancel()
	for {
		if s, err := dial(ctx, g); err == nil {
			return s, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// flush waits until a content is on the disk. It leaves that to a daemon that goes on after the
// command.
func (s *session) flush(ctx context.Context, id string) error {
	if s.own == nil {
		return nil
	}
	t, err := s.own.node.Transfer(id)
	if err != nil {
		return err
	}
	return t.Flush(ctx)
}

// close disconnects, and ends a daemon that runs within this command.
func (s *session) close() error {
	s.Client.Close()
	if s.own == nil {
		return nil
	}
	err := s.own.close()
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// drain closes the session of a command that is done. It first waits for other
// commands that use a node of this one, until ctx ends.
func (s *session) drain(ctx context.Context, g *command.App) error {
	s.Client.Close()
	if s.own != nil {
		s.own.drain(ctx, func() { g.Note("waiting for other commands that use this node; Ctrl-C ends them") })
	}
	return s.close()
}

// cleanup runs f, even after an interrupt has ended ctx.
func cleanup(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := f(ctx); err != nil {
		return fmt.Errorf("clean-up: %w", err)
	}
	return nil
}
