package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/mobgrid/mob/interop/netns"
)

// MagPIe is the broadcast of the library MagPIe: the source sends the complete message to a coordinator of each other
// cluster, and within a cluster it goes down a binomial tree. No node sends before it has all of it. Connections are open before.
type MagPIe struct {
	// Program is mob-bench.
	Program string
}

// MagPIeNode is a process of MagPIe.
type MagPIeNode struct {
	Listen   string
	Children []string // addresses
	Content  string   // of the source, else empty
	Copy     string
}

// Run prints a line when the node is connected to its children. The source sends when its standard input ends, and then waits
// for its end; another node ends when it has received and sent the message.
func (n *MagPIeNode) Run(ctx context.Context) error {
	l, err := net.Listen("tcp", n.Listen)
	if err != nil {
		return err
	}
	children := make([]net.Conn, len(n.Children))
	for i, addr := range n.Children {
		if children[i], err = net.Dial("tcp", addr); err != nil {
			return err
		}
	}
	fmt.Println("connected")
	var message []byte
	if n.Content != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		message, err = os.ReadFile(n.Content)
	} else if parent, acceptErr := l.Accept(); acceptErr != nil {
		return acceptErr
	} else if message, err = io.ReadAll(parent); err == nil {
		err = os.WriteFile(n.Copy, message, 0o600)
	}
	sent := make(chan error, len(children))
	for _, c := range children {
		go func() {
			_, err := c.Write(message)
			sent <- errors.Join(err, c.Close())
		}()
	}
	for range children {
		err = errors.Join(err, <-sent)
	}
	if n.Content != "" && err == nil {
		<-ctx.Done()
	}
	return err
}

// Name implements [System].
func (m MagPIe) Name() string { return "magpie" }

// Missing implements [System].
func (m MagPIe) Missing() error { return nil }

// magpie is a [Transfer]: start starts the source.
type magpie struct {
	swarm
	start io.Closer
}

// Prepare implements [System].
func (m MagPIe) Prepare(ctx context.Context, site Site) (Transfer, error) {
	t := &magpie{swarm: swarm{receivers: map[*netns.Node]receiver{}}}
	err := ctx.Err()
	nodes := append([]*netns.Node{site.Source}, site.Receivers...)
	for _, n := range slices.Backward(nodes) { // children before their parents
		if err == nil {
			err = m.add(t, n, nodes, site)
		}
	}
	if err != nil {
		_, closed := t.Close()
		return nil, errors.Join(err, closed)
	}
	return t, nil
}

// add starts the process of a node.
func (m MagPIe) add(t *magpie, n *netns.Node, all []*netns.Node, site Site) error {
	address := func(n *netns.Node) string { return n.IP.String() + ":4002" }
	node := MagPIeNode{Listen: address(n), Copy: filepath.Join(site.Dir, n.Name())}
	if n == site.Source {
		node.Content = site.Content
	}
	for _, other := range all {
		between := n == site.Source && other.Cluster != n.Cluster && other.Index == 0
		within := other.Cluster == n.Cluster && other.Index > n.Index && other.Index&(other.Index-1) == n.Index
		if between || within {
			node.Children = append(node.Children, address(other))
		}
	}
	b, _ := json.Marshal(node) // never fails
	cmd := exec.Command(m.Program, "paper", "--magpie", string(b))
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	p, err := startProcess(n, cmd, filepath.Join(site.Dir, n.Name()+".log"))
	if err == nil && n == site.Source {
		t.source, t.start = p, in
	} else if err == nil {
		t.receivers[n] = &magpieReceiver{p, node.Copy}
	}
	return err
}

// Fetch implements [Transfer].
func (t *magpie) Fetch(ctx context.Context, complete func(n *netns.Node)) error {
	return errors.Join(t.start.Close(), t.swarm.Fetch(ctx, complete))
}

type magpieReceiver struct {
	*process
	copy string
}

// Copy implements [receiver].
func (r *magpieReceiver) Copy() string { return r.copy }

// Fetch implements [receiver]: the process ends when the message has been received and sent.
func (r *magpieReceiver) Fetch(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.Ended():
		_, err := os.Stat(r.copy)
		return err
	}
}
