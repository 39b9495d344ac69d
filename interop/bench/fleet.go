package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// Fleet is a tracker and daemons on the nodes of a grid: the programs mob and mobd, through
// their command lines. Its methods and the methods of its daemons may be called from any
// goroutine, but one at a time for each program.
type Fleet struct {
	Grid *netns.Grid
	// Bin is the directory of the programs mob and mobd.
	Bin string
	// Dir gets a directory for each program, with its data and log.
	Dir string
	// BitTorrent has daemons accept BitTorrent clients, at BTPort, and the tracker
	// their announces, at [stock.TrackerPort].
	BitTorrent bool
	// Instead replaces mobd in daemons of these names by another program with some
	// leading arguments.
	Instead map[string][]string
	// Flat has daemons know their site only, and not their rack.
	Flat bool
	// Hosts are the names of nodes' hosts in plans, by their own. Without them daemons are given none.
	Hosts map[string]string
	// Pipe has receivers get the content to standard output.
	Pipe bool
	// Debug sets the log level of daemons to debug.
	Debug bool

	tracker     *process
	trackerNode *netns.Node
}

// BTPort is the place where daemons accept BitTorrent clients: a stock client on the same node has
// [stock.Port].
const BTPort = stock.Port + 1

// StartTracker runs the tracker on a node.
func (f *Fleet) StartTracker(node *netns.Node) error {
	dir := filepath.Join(f.Dir, "tracker")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	args := []string{"tracker", "--listen", fmt.Sprintf("/ip4/%s/tcp/0", node.IP), "--data", dir}
	if f.BitTorrent {
		args = append(args, "--bt-listen", fmt.Sprintf("%s:%d", node.IP, stock.TrackerPort))
	}
	p, err := startProcess(node, exec.Command(filepath.Join(f.Bin, "mob"), args...), filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	f.tracker, f.trackerNode = p, node
	return nil
}

// StartDaemon runs a daemon on a node, in the node's cluster or rack, with a name such as B2. One
// that is started after [Daemon.Kill] uses the same data directory.
func (f *Fleet) StartDaemon(node *netns.Node) (*Daemon, error) {
	cluster := node.Path
	if f.Flat {
		cluster = node.Cluster
	}
	return f.StartNamed(node, node.Name(), cluster)
}

// StartNamed runs a daemon with its own name, so that a node can have several. It
// listens on a free port.
func (f *Fleet) StartNamed(node *netns.Node, name, cluster string) (*Daemon, error) {
	d := &Daemon{Node: node, fleet: f, name: name, dir: filepath.Join(f.Dir, name)}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	program := f.Instead[name]
	if program == nil {
		program = []string{"mobd"}
	}
	args := slices.Clone(program[1:])
	args = append(args, "--cluster", cluster, "--listen", fmt.Sprintf("/ip4/%s/tcp/0", node.IP), "--data", d.dir)
	if f.tracker != nil {
		args = append(args, "--tracker", f.tracker.line)
	}
	if f.BitTorrent {
		args = append(args, "--bt-listen", fmt.Sprintf("%s:%d", node.IP, BTPort))
	}
	if host := f.Hosts[name]; host != "" {
		args = append(args, "--host", host)
	}
	if f.Debug {
		args = append(args, "--log-level", "debug")
	}
	var err error
	d.proc, err = startProcess(node, exec.Command(filepath.Join(f.Bin, program[0]), args...), d.Log())
	if err != nil {
		return nil, err
	}
	return d, nil
}
