// Package workers runs nodes on a grid, each in a separate process, for tests and comparisons of packages that use nodes.
package workers

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// NewGrid makes four clusters of four nodes, with the links of the scenario fast, slower by a factor, and a round trip of 40 ms.
func NewGrid(slower float64) (*netns.Grid, error) {
	return netns.New(netns.Config{Clusters: netns.Clusters(4, 4, 4, 4), Links: netns.Fast().Divided(slower), RTT: 40 * time.Millisecond})
}

// LinkRate returns the rate of the link between two clusters of the grid, compared with its other links.
func LinkRate(a, b string) float64 { return float64(netns.Fast().Rate(a, b)) }

// Start starts a process in a node of a grid, with the pipes of [Pipes].
func Start(n *netns.Node, cmd *exec.Cmd) (p *netns.Process, in io.WriteCloser, out io.Reader, err error) {
	if in, out, err = Pipes(cmd); err == nil {
		p, err = n.Start(cmd)
	}
	return p, in, out, err
}

// Pipes gives a command pipes for its standard input and output. It has the standard error of this process.
func Pipes(cmd *exec.Cmd) (in io.WriteCloser, out io.Reader, err error) {
	cmd.Stderr = os.Stderr
	if in, err = cmd.StdinPipe(); err == nil {
		out, err = cmd.StdoutPipe()
	}
	return in, out, err
}

// Command returns a command that runs this program again, as a worker with a configuration in a variable of its environment.
// See [Main].
func Command(variable string, cfg any) (*exec.Cmd, error) {
	b, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+string(b))
	return cmd, nil
}

// Main runs the worker whose configuration is in a variable of the environment, or else tests. It does not return.
func Main(variable string, cfg interface{ Run() error }, tests interface{ Run() int }) {
	text := os.Getenv(variable)
	if text == "" {
		os.Exit(tests.Run())
	}
	err := json.Unmarshal([]byte(text), cfg)
	if err == nil {
		err = cfg.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Node is the configuration of a node.
type Node struct {
	Data, Cluster, IP string
	// Tracker is the address of the node that is the tracker, empty for that node itself.
	Tracker string
}

// self is the address of a tracker in the same process, which is not dialed.
const self = "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWDqsZQiT2g8WmjoumgasA2cXosrVd7SEFWGPWJFoneGbx"

// Start starts the node, which stop ends.
func (c *Node) Start() (n *peer.Node, stop func(), err error) {
	var server *tracker.Server
	cfg := peer.Config{
		Data: c.Data, Cluster: c.Cluster,
		Listen:   []ma.Multiaddr{ma.StringCast("/ip4/" + c.IP + "/tcp/4001")},
		Trackers: []ma.Multiaddr{ma.StringCast(self)},
	}
	cfg.Finder = func(libhost.Host, []ma.Multiaddr) peer.Finder { return server.Local() }
	if c.Tracker != "" {
		cfg.Trackers = []ma.Multiaddr{ma.StringCast(c.Tracker)}
		cfg.Finder = func(h libhost.Host, addrs []ma.Multiaddr) peer.Finder {
			infos, _ := libpeer.AddrInfosFromP2pAddrs(addrs...)
			return tracker.NewClient(h, infos, tracker.ClientConfig{})
		}
	}
	if n, err = peer.Start(cfg); err != nil {
		return nil, nil, err
	}
	if c.Tracker == "" {
		server = tracker.New(n.Host(), nil)
	}
	return n, func() { // the process ends after it, so nothing is done about errors
		if server != nil {
			_ = server.Close()
		}
		_ = n.Close()
	}, nil
}
