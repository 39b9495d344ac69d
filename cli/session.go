package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/peer/datadir"
)

// startWait is how long a daemon that has locked its folder may take to open its
// socket.
const startWait = 3 * time.Second

// session is a client of the daemon of a data folder.
type session struct {
	*control.Client
	own    *daemon // the daemon, when this command runs it
	folder string  // to delete at the end, or empty
}

// dial finds the daemon of the data folder.
func (g *global) dial(ctx context.Context) (*session, error) {
	dir, err := dataFolder(g.data)
	if err != nil {
		return nil, err
	}
	c, err := control.Dial(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &session{Client: c}, nil
}

// flags are those of a command that runs a node when no daemon is there.
func (n *nodeFlags) flags(g *global, cmd *cobra.Command) {
	cluster := g.Getenv("MOB_CLUSTER")
	if cluster == "" {
		cluster = "default"
	}
	f := cmd.Flags()
	f.StringVar(&n.cluster, "cluster", cluster, "cluster of this node, $MOB_CLUSTER by default; a daemon has its own")
	f.StringArrayVar(&n.listen, "listen", []string{"/ip4/0.0.0.0/tcp/0"}, "address of this node; a daemon has its own")
	f.StringArrayVar(&n.trackers, "tracker", nil, "tracker to ask; may be given again")
	n.guests.Add(f)
}

// dialOrRun finds the daemon of the data folder, or runs one within the command
// until the session is closed.
func (g *global) dialOrRun(cmd *cobra.Command, n *nodeFlags) (*session, error) {
	n.data, n.logLevel = g.data, g.logLevel
	cfg, err := n.config(g.Env)
	if err != nil {
		return nil, wrong(cmd, "%w", err)
	}
	s, err := g.dial(cmd.Context())
	var none *control.NoDaemonError
	if err == nil {
		if f := cmd.Flags(); f.Changed("cluster") || f.Changed("listen") || f.Changed("bt-listen") {
			g.note("note: a daemon runs in %s: its own --cluster, --listen and --bt-listen hold", cfg.data)
		}
		return s, nil
	}
	if !errors.As(err, &none) {
		return nil, err
	}
	s = new(session)
	s.own, err = startDaemon(cfg)
	var inUse *datadir.InUseError
	if errors.As(err, &inUse) {
		return g.dialSoon(cmd.Context(), err)
	}
	if err != nil {
		return nil, err
	}
	if s.Client, err = control.Dial(cmd.Context(), cfg.data); err != nil {
		return nil, errors.Join(err, s.own.close())
	}
	return s, nil
}

// dialSoon finds a daemon that is about to start. failed is why it is thought to
// be, and what to return when it does not come.
func (g *global) dialSoon(ctx context.Context, failed error) (*session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, failed)
	defer cancel()
	for {
		if s, err := g.dial(ctx); err == nil {
			return s, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// close lets go of the daemon, and ends it when it runs within this command.
func (s *session) close() error {
	s.Client.Close()
	if s.own == nil {
		return nil
	}
	err := s.own.close()
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}

// closeLater ends the session of a command that is done. Other commands that use
// a node that runs within this one are waited for, unless ctx ends.
func (s *session) closeLater(ctx context.Context, g *global) error {
	s.Client.Close()
	if s.own != nil {
		s.own.drain(ctx, func() { g.note("waiting for other commands that use this node; Ctrl-C ends them") })
	}
	return s.close()
}

// apart runs a clean-up that an interrupt, which has ended ctx, must not keep
// from happening.
func apart(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := f(ctx); err != nil {
		return fmt.Errorf("clean-up: %w", err)
	}
	return nil
}
