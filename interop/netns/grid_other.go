//go:build !linux

package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
)

// errPlatform is the error of everything that needs namespaces.
var errPlatform = fmt.Errorf("netns: network namespaces need Linux, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)

// Available returns an error that matches errors.ErrUnsupported.
func Available() error { return errPlatform }

// Grid exists on Linux only: New never returns one here.
type Grid struct{}

// Process is a command that runs in a node.
type Process struct{}

// Node is one machine of a cluster.
type Node struct {
	Cluster string
	Index   int
	Path    string
	IP      netip.Addr
}

// New returns an error that matches errors.ErrUnsupported.
func New(Config) (*Grid, error) { return nil, errPlatform }

// Close does nothing on this system.
func (g *Grid) Close() error { return nil }

// Node does nothing on this system.
func (g *Grid) Node(cluster string, i int) *Node { return nil }

// Nodes does nothing on this system.
func (g *Grid) Nodes(cluster string) []*Node { return nil }

// SetRate does nothing on this system.
func (g *Grid) SetRate(a, b string, r Rate) error { return errPlatform }

// Block does nothing on this system.
func (g *Grid) Block(from, to string) error { return errPlatform }

// Unblock does nothing on this system.
func (g *Grid) Unblock(from, to string) error { return errPlatform }

// WANBytes does nothing on this system.
func (g *Grid) WANBytes(cluster string) (uint64, error) { return 0, errPlatform }

// LANBytes does nothing on this system.
func (g *Grid) LANBytes(cluster string) (uint64, error) { return 0, errPlatform }

// LinkBytes does nothing on this system.
func (g *Grid) LinkBytes() ([]LinkBytes, error) { return nil, errPlatform }

// UplinkBytes does nothing on this system.
func (g *Grid) UplinkBytes() ([]LinkBytes, error) { return nil, errPlatform }

// NICBytes does nothing on this system.
func (g *Grid) NICBytes(cluster string) ([]LinkBytes, error) { return nil, errPlatform }

// Do does nothing on this system.
func (n *Node) Do(fn func() error) error { return errPlatform }

// Unplug does nothing on this system.
func (n *Node) Unplug() error { return errPlatform }

// Plug does nothing on this system.
func (n *Node) Plug() error { return errPlatform }

// Start does nothing on this system.
func (n *Node) Start(cmd *exec.Cmd) (*Process, error) { return nil, errPlatform }

// Run does nothing on this system.
func (n *Node) Run(cmd *exec.Cmd) error { return errPlatform }

// Pid does nothing on this system.
func (p *Process) Pid() int { return 0 }

// Signal does nothing on this system.
func (p *Process) Signal(sig os.Signal) error { return errPlatform }

// End does nothing on this system.
func (p *Process) End() error { return errPlatform }

// Kill does nothing on this system.
func (p *Process) Kill() error { return errPlatform }

// Wait does nothing on this system.
func (p *Process) Wait() error { return errPlatform }
