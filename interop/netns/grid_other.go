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

// New returns an error that matches errors.ErrUnsupported.
func New(Config) (*Grid, error) { return nil, errPlatform }

// Congestion returns nothing.
func (g *Grid) Congestion() string { return "" }

// Close does nothing.
func (g *Grid) Close() error { return nil }

// Node returns nil.
func (g *Grid) Node(cluster string, i int) *Node { return nil }

// Nodes returns nil.
func (g *Grid) Nodes(cluster string) []*Node { return nil }

// SetRate returns an error.
func (g *Grid) SetRate(a, b string, r Rate) error { return errPlatform }

// Block returns an error.
func (g *Grid) Block(from, to string) error { return errPlatform }

// Unblock returns an error.
func (g *Grid) Unblock(from, to string) error { return errPlatform }

// WAN returns an error.
func (g *Grid) WAN(cluster string) (Count, error) { return Count{}, errPlatform }

// WANBytes returns an error.
func (g *Grid) WANBytes(cluster string) (uint64, error) { return 0, errPlatform }

// LANBytes returns an error.
func (g *Grid) LANBytes(cluster string) (uint64, error) { return 0, errPlatform }

// LinkBytes returns an error.
func (g *Grid) LinkBytes() ([]LinkBytes, error) { return nil, errPlatform }

// UplinkBytes returns an error.
func (g *Grid) UplinkBytes() ([]LinkBytes, error) { return nil, errPlatform }

// NICBytes returns an error.
func (g *Grid) NICBytes(cluster string) ([]LinkBytes, error) { return nil, errPlatform }

// Node is one machine of a cluster.
type Node struct {
	Cluster string
	Index   int
	Path    string
	IP      netip.Addr
}

// Do returns an error.
func (n *Node) Do(fn func() error) error { return errPlatform }

// Unplug returns an error.
func (n *Node) Unplug() error { return errPlatform }

// Plug returns an error.
func (n *Node) Plug() error { return errPlatform }

// Start returns an error.
func (n *Node) Start(cmd *exec.Cmd) (*Process, error) { return nil, errPlatform }

// Run returns an error.
func (n *Node) Run(cmd *exec.Cmd) error { return errPlatform }

// Process is a command that runs in a node.
type Process struct{}

// Pid returns zero.
func (p *Process) Pid() int { return 0 }

// Signal returns an error.
func (p *Process) Signal(sig os.Signal) error { return errPlatform }

// Kill returns an error.
func (p *Process) Kill() error { return errPlatform }

// Wait returns an error.
func (p *Process) Wait() error { return errPlatform }
