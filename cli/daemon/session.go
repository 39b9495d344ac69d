package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

const (
	// startTimeout is the time for a daemon that has locked its directory to open its socket.
	startTimeout = 3 * time.Second
	// cleanupTimeout bounds what a command does after an interrupt.
	cleanupTimeout = 10 * time.Second
)

// Session is a connection to the daemon of a data directory.
type Session struct {
	*control.Client
	Own *Daemon // the daemon, when this command runs it
	dir string  // data directory to delete at the end, or empty
}

// DialOrRun connects to the daemon of the data directory, or runs one within the command until the session is closed.
func DialOrRun(ctx context.Context, a *command.App, n *Flags) (*Session, error) {
	n.Data, n.level = a.Data, a.LogLevel
	if err := n.config(a.Env); err != nil {
		return nil, command.Usagef("%w", err)
	}
	c, err := a.Dial(ctx)
	if err == nil {
		if n.given("cluster", "host", "listen", "bt-listen", "network") || n.given(limit.Names[:]...) {
			a.Note("note: --network, limits, --cluster, --host, --listen and --bt-listen are ignored: "+
				"the daemon of %s has its own (`mob limit` changes its limits)", n.Data)
		}
		return &Session{Client: c}, nil
	}
	if _, none := errors.AsType[*control.NoDaemonError](err); !none {
		return nil, err
	}
	s, err := runSession(ctx, n)
	if _, inUse := errors.AsType[*datadir.InUseError](err); inUse {
		return dialSoon(ctx, a, err)
	}
	return s, err
}

// DialOrRunTemporary connects to the daemon of the data directory, and completes the link of c, which may be empty. When
// there is no daemon, and c has a link, it runs a node in a temporary directory: one in the data directory would resume
// the transfers there.
func DialOrRunTemporary(ctx context.Context, a *command.App, c *command.Content, n *NetworkFlags) (*Session, error) {
	client, err := a.Dial(ctx)
	_, none := errors.AsType[*control.NoDaemonError](err)
	switch none = none || a.Data == ""; { // no home
	case none && c.Link != nil:
		if _, err := n.Config(membership.DefaultRoles); err != nil {
			return nil, err
		}
		local := LocalFlags()
		local.network = *n
		return runTemporary(ctx, a, local)
	case err != nil:
		return nil, err
	case c.Name != "" && c.Link == nil:
		st, err := client.Transfer(ctx, c.Name)
		if err == nil {
			c.Link, err = proto.ParseLink(st.Link)
		}
		if err != nil {
			return nil, err
		}
	}
	if *n != (NetworkFlags{}) {
		a.Note("note: --network, --certificate and --revoked are ignored: the daemon of %s has its own", a.Data)
	}
	return &Session{Client: client}, nil
}

// runTemporary runs a daemon within the command, in a temporary directory. A certificate is for the key of the data
// directory, which is copied.
func runTemporary(ctx context.Context, a *command.App, n *Flags) (*Session, error) {
	dir, err := os.MkdirTemp("", "mob-")
	if err != nil {
		return nil, err
	}
	var s *Session
	if n.network.certificate != "" {
		var data string
		if data, err = command.DataDir(a.Data); err == nil {
			err = datadir.CopyKey(data, dir)
		}
	}
	if err == nil {
		own := *a
		own.Data = dir
		s, err = DialOrRun(ctx, &own, n)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.dir = dir
	return s, nil
}

// runSession runs a daemon within the command and connects to it.
func runSession(ctx context.Context, n *Flags) (*Session, error) {
	if n.set != nil && !n.given("listen") && onlyIPv6() {
		n.Listen = []ma.Multiaddr{ma.StringCast("/ip6/::/tcp/0")}
	}
	d, err := start(n, true)
	if err != nil {
		return nil, err
	}
	c, err := control.Dial(ctx, n.Data)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return &Session{Client: c, Own: d}, nil
}

// dialSoon connects to a daemon that has locked the data directory, once it opens its socket. It returns locked if it does not.
func dialSoon(ctx context.Context, a *command.App, locked error) (*Session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, locked)
	defer cancel()
	for {
		if c, err := a.Dial(ctx); err == nil {
			return &Session{Client: c}, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// OwnTransfer returns a transfer of the node that this command runs.
func (s *Session) OwnTransfer(id string) (*peer.Transfer, error) { return s.Own.node.Transfer(id) }

// NoTransfer explains the error of a call for a transfer that the node does not have. If this command runs the node,
// `mob ls` has nothing to list them, and a daemon may run in another data directory.
func (s *Session) NoTransfer(name string, err error) error {
	if s.Own == nil || !errors.Is(err, peer.ErrUnknownTransfer) {
		return err
	}
	return fmt.Errorf("%s: no such transfer in %s, where no daemon is running: give another --data", name, s.Info.Data)
}

// Close ends a daemon that runs within this command.
func (s *Session) Close() error {
	if s.Own == nil {
		return nil
	}
	err := s.Own.close()
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// Drain waits for other commands that use a node of this one, until ctx ends. Close must follow.
func (s *Session) Drain(ctx context.Context, a *command.App) {
	if s.Own != nil {
		s.Own.drain(ctx, func() { a.Note("waiting for other commands that use this node; Ctrl-C ends them") })
	}
}

// RemoveSeed ends an interrupted seed of a path at a node of this command, which may have added its transfer since. It waits
// until the call has ended. A transfer with one of the known ids stays. Close must follow.
func (s *Session) RemoveSeed(path string, known []string) error {
	if s.Own == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	s.Own.drain(ctx, func() {})
	t, err := s.Own.node.Transfer(path)
	if err != nil || slices.Contains(known, t.ID.String()) {
		return nil //nolint:nilerr // there is none
	}
	_, err = s.Own.node.Remove(t, false)
	return err
}

// Cleanup runs f, even after an interrupt has ended ctx.
func Cleanup(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := f(ctx); err != nil {
		return fmt.Errorf("cleanup: %w", err)
	}
	return nil
}
