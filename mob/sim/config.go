package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// Config is one simulated transfer.
type Config struct {
	// Clusters are the clusters and their sizes. The first node of the first
	// cluster is the source. Nodes are numbered through all clusters.
	Clusters []Cluster
	// Length and PieceLength are the content's, in bytes.
	Length      int64
	PieceLength int
	// Links are the rates of the WAN links per direction. A link that is missing
	// is infinitely fast.
	Links Links
	// NIC is the rate of every node's interface, in each direction, in bytes per
	// second; 0 is 500 MB/s. SlowNIC has the exceptions, by node.
	NIC     float64
	SlowNIC map[int]float64
	// RTT is the round trip between clusters, LanRTT within one; 0 is 2 ms and
	// 0.2 ms.
	RTT, LanRTT time.Duration
	// Verify is how long a piece takes from its last block to being stored.
	Verify time.Duration
	// Spread is over how long the nodes start; 0 is 50 ms. Starts has exceptions,
	// by node.
	Spread time.Duration
	Starts map[int]time.Duration
	// Handout is how many members the tracker tells of at once, beside those of
	// the own cluster; 0 is all. It tells again every Announce; 0 is 30 s.
	Handout  int
	Announce time.Duration
	// Faults are what goes wrong.
	Faults Faults
	// Limit ends the run in virtual time; 0 is twenty times the ideal time, and
	// a minute.
	Limit time.Duration
	// Seed makes every random choice.
	Seed uint64
	// Coding is that of a coded transfer.
	Coding mob.Coding
	// Strategy is how nodes exchange the content. With permutation gossip, which takes one
	// cluster, Generation is the number of blocks, of PieceLength bytes, in a generation.
	Strategy   proto.Strategy
	Generation int
	// Idle has the report say why links stood idle.
	Idle bool
	// Tuning is the nodes'; nil is mob.DefaultTuning.
	Tuning *mob.Tuning
}

// Cluster is a name and a number of nodes.
type Cluster struct {
	Name  string
	Nodes int
}

// Faults are what goes wrong in a transfer.
type Faults struct {
	// Kills end nodes at given times.
	Kills []Kill
	// KillSource ends the source as soon as every piece is stored elsewhere.
	KillSource bool
	// Liars are nodes that send damaged blocks. Of coded blocks nobody would notice.
	Liars []int
	// Lossy are nodes that refuse half of what they are asked for.
	Lossy []int
}

// Kill ends a node.
type Kill struct {
	Node int
	At   time.Duration
	// Silent leaves its peers without a word, as when a cable is cut; otherwise
	// its connections are closed, as when a process dies.
	Silent bool
}

// Grid is the paper's grid: clusters A, B, C, D of the given sizes.
func Grid(sizes ...int) []Cluster {
	cs := make([]Cluster, len(sizes))
	for i, n := range sizes {
		cs[i] = Cluster{Name: string(rune('A' + i)), Nodes: n}
	}
	return cs
}

const defaultNIC = 500e6

func (c *Config) setDefaults() {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.RTT, 2*time.Millisecond)
	def(&c.LanRTT, 200*time.Microsecond)
	def(&c.Spread, 50*time.Millisecond)
	def(&c.Announce, 30*time.Second)
	if c.NIC == 0 {
		c.NIC = defaultNIC
	}
	if c.Tuning == nil {
		t := mob.DefaultTuning()
		c.Tuning = &t
	}
}

func (c *Config) validate() error {
	if len(c.Clusters) == 0 || c.nodes() < 2 {
		return errors.New("sim: want at least two nodes")
	}
	for _, k := range c.Clusters {
		if k.Nodes < 1 {
			return fmt.Errorf("sim: cluster %q has no node", k.Name)
		}
	}
	if c.Length <= 0 || c.PieceLength <= 0 {
		return fmt.Errorf("sim: content of %d bytes in pieces of %d", c.Length, c.PieceLength)
	}
	if k := c.Coding; k != (mob.Coding{}) {
		if err := rlnc.CheckK(k.Blocks); err != nil || k.Names <= k.Blocks || k.Live < 1 {
			return fmt.Errorf("sim: generations of %d blocks, %d names, %d of them live", k.Blocks, k.Names, k.Live)
		}
	}
	if c.Strategy.Gossip() && (c.Generation < 1 || c.Generation > rlnc.MaxK || len(c.Clusters) > 1 || len(c.Faults.Liars)+len(c.Faults.Lossy) > 0) {
		return fmt.Errorf("sim: permutation gossip of %d blocks in %d clusters: want 1 to %d in one, of honest nodes", c.Generation, len(c.Clusters), rlnc.MaxK)
	}
	for _, k := range c.Faults.Kills {
		if k.Node < 0 || k.Node >= c.nodes() {
			return fmt.Errorf("sim: no node %d to kill", k.Node)
		}
	}
	return nil
}

// pieces is the number of pieces, which are blocks in permutation gossip.
func (c *Config) pieces() int {
	return int((c.Length + int64(c.PieceLength) - 1) / int64(c.PieceLength))
}

// blocksIn is the number of blocks in a generation of permutation gossip.
func (c *Config) blocksIn(g int) int {
	return min(c.Generation, c.pieces()-g*c.Generation)
}

func (c *Config) nodes() int {
	n := 0
	for _, k := range c.Clusters {
		n += k.Nodes
	}
	return n
}

func (c *Config) nic(node int) float64 {
	if r, ok := c.SlowNIC[node]; ok {
		return r
	}
	return c.NIC
}
