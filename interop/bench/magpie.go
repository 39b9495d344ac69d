package bench

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/mobgrid/mob/interop/netns"
)

// MagPIe is the broadcast of the library MagPIe: the source sends the message to a coordinator of each other cluster, and
// within a cluster it goes down a binomial tree. No node sends before it has the complete message. The nodes are goroutines of
// this process with sockets in their namespaces, and are connected before the message.
type MagPIe struct{}

// Name implements [System].
func (MagPIe) Name() string { return "magpie" }

// Missing implements [System].
func (MagPIe) Missing() error { return nil }

// magpie is a [Transfer].
type magpie struct {
	site  Site
	edges map[*netns.Node]*edge // by the child
}

// edge is the connection of a node with its parent.
type edge struct {
	parent  *netns.Node
	out, in net.Conn // of the parent and of the child
}

// Prepare implements [System].
func (MagPIe) Prepare(_ context.Context, site Site) (Transfer, error) {
	m := &magpie{site, map[*netns.Node]*edge{}}
	for _, n := range site.Receivers {
		e := &edge{parent: site.Source}
		if n.Index > 0 { // without the last of its bits: a binomial tree
			e.parent = site.Grid.Node(n.Cluster, n.Index&(n.Index-1))
		}
		if err := e.connect(n); err != nil {
			_, _ = m.Close()
			return nil, err
		}
		m.edges[n] = e
	}
	return m, nil
}

func (e *edge) connect(child *netns.Node) error {
	var l net.Listener
	err := child.Do(func() (err error) {
		l, err = net.Listen("tcp4", child.IP.String()+":0")
		return err
	})
	if err == nil {
		defer l.Close()
		err = e.parent.Do(func() (err error) {
			e.out, err = net.DialTimeout("tcp4", l.Addr().String(), readyTimeout)
			return err
		})
	}
	if err == nil {
		e.in, err = l.Accept()
	}
	return err
}

// Fetch implements [Transfer].
func (m *magpie) Fetch(ctx context.Context, complete func(n *netns.Node)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { _, _ = m.Close() })()
	var wg sync.WaitGroup
	run := func(f func() error) {
		wg.Go(func() {
			if err := f(); err != nil {
				cancel(err)
			}
		})
	}
	send := func(from *netns.Node, path string) {
		for _, e := range m.edges {
			if e.parent == from {
				run(func() error { return e.send(path) })
			}
		}
	}
	send(m.site.Source, m.site.Content)
	for n, e := range m.edges {
		run(func() error {
			err := e.receive(m.Copy(n), m.site.Case.Size)
			if err == nil {
				complete(n)
				send(n, m.Copy(n))
			}
			return err
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (e *edge) send(path string) error {
	f, err := os.Open(path)
	if err == nil {
		_, err = io.Copy(e.out, f)
		_ = f.Close() // read only
	}
	return err
}

func (e *edge) receive(path string, size int64) error {
	f, err := os.Create(path)
	if err == nil {
		_, err = io.CopyN(f, e.in, size)
		err = errors.Join(err, f.Close())
	}
	return err
}

// Copy implements [Transfer].
func (m *magpie) Copy(n *netns.Node) string { return filepath.Join(m.site.Dir, n.Name()) }

// Kill implements [Transfer]. The broadcast fails.
func (m *magpie) Kill(n *netns.Node) error { return m.edges[n].in.Close() }

// Close implements [Transfer].
func (m *magpie) Close() (netns.Usage, error) {
	for _, e := range m.edges {
		_, _ = e.out.Close(), e.in.Close()
	}
	return netns.Usage{}, nil
}
