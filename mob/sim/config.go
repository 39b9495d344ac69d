package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/mobgrid/mob/mob/coded"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// Config is one simulated transfer.
type Config struct {
	// Clusters are the clusters and their sizes. The first node of the first cluster is
	// the source. Nodes are numbered through all clusters. One whose name is a path, such as
	// A/r1, is a rack of site A.
	Clusters []Cluster
	// Length and PieceLength are the content's, in bytes.
	Length      int64
	PieceLength int
	// Together is the field of [mob.Config].
	Together int
	// Links are the rates of the WAN links between sites, for each direction. A link without
	// one is infinitely fast.
	Links Links
	// Uplink is the rate between each rack and the switch of its site, in each direction, in
	// bytes per second; 0 means no limit.
	Uplink float64
	// Flat has nodes know their site only, and not their rack.
	Flat bool
	// NIC is the rate of every node's interface, in each direction, in bytes per
	// second; 0 is 500 MB/s. SlowNIC has the exceptions, by node.
	NIC     float64
	SlowNIC map[int]float64
	// RTT is the round trip between sites, LanRTT within one; 0 is 2 ms and 0.2 ms.
	RTT, LanRTT time.Duration
	// Starts has the nodes that start at a given time. The remaining nodes start within the first
	// 50 ms.
	Starts map[int]time.Duration
	// Plan is the plan that nodes follow, nil for none. Hosts are the names of their hosts; some may
	// be missing in the plan.
	Plan  *plan.Plan
	Hosts []string
	// Handout is the number of members of other sites that the tracker sends a node,
	// in addition to its own site's; 0 is all.
	Handout int
	// Session is as in [mob.Tuning].
	Session int
	Faults  Faults
	// Limit ends the run, in virtual time; 0 is twenty times the ideal time, and a minute.
	Limit time.Duration
	// Seed makes every random choice.
	Seed uint64
	// Coding is the coding of a coded transfer.
	Coding coded.Coding
	// Strategy is how nodes exchange the content. With permutation gossip, which takes one
	// cluster, Generation is the number of blocks, of PieceLength bytes, in a generation.
	Strategy   proto.Strategy
	Generation int
}

// Cluster is a name and a number of nodes.
type Cluster struct {
	Name  string
	Nodes int
}

// Faults lists the faults of a transfer.
type Faults struct {
	// Kills end nodes at given times.
	Kills []Kill
	// Cuts cut nodes off temporarily.
	Cuts []Cut
	// KillSource ends the source as soon as every piece is stored elsewhere.
	KillSource bool
	// Corrupters are nodes that send damaged blocks. In a coded transfer no node would notice.
	Corrupters []int
	// Lossy are nodes that reject half of the requests.
	Lossy []int
	// Claimers claim every piece and fetch none, and Boasters say that they have every piece and
	// send none. Both answer pings.
	Claimers, Boasters []int
	// Hangs are nodes whose disk hangs once they have stored n pieces.
	Hangs map[int]int
	// Tricklers are nodes that answer one request of ten, and the other ones never.
	Tricklers []int
	// Slow are nodes that rarely get the CPU: they handle what has come every 0.5 to 5 s.
	Slow []int
}

// any reports whether there are faults in addition to nodes that end.
func (f *Faults) any() bool {
	return len(f.Corrupters)+len(f.Lossy)+len(f.Claimers)+len(f.Boasters)+len(f.Hangs)+len(f.Tricklers)+len(f.Slow)+
		len(f.Cuts) > 0
}

// Kill ends a node.
type Kill struct {
	Node int
	At   time.Duration
	// Silent leaves its connections open, as when a cable is cut; otherwise they are
	// closed, as when a process dies.
	Silent bool
}

const (
	defaultNIC = 500e6
	// startSpread is the time within which nodes start.
	startSpread = 50 * time.Millisecond
	// announceInterval is the time between two answers of the tracker to a node.
	announceInterval = 30 * time.Second
)

func (c *Config) setDefaults() {
	c.RTT = cmp.Or(c.RTT, 2*time.Millisecond)
	c.LanRTT = cmp.Or(c.LanRTT, 200*time.Microsecond)
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
	if c.Uplink < 0 {
		return fmt.Errorf("sim: uplinks of %g bytes per second", c.Uplink)
	}
	if c.Length <= 0 || c.PieceLength <= 0 {
		return fmt.Errorf("sim: content of %d bytes in pieces of %d", c.Length, c.PieceLength)
	}
	var victims []int
	for _, k := range c.Faults.Cuts {
		victims = append(victims, k.Node)
	}
	for _, k := range c.Faults.Kills {
		victims = append(victims, k.Node)
	}
	for _, n := range victims {
		if n < 0 || n >= c.nodes() {
			return fmt.Errorf("sim: no node %d to cut off or kill", n)
		}
	}
	if c.Plan != nil {
		if c.Strategy.Gossip() || c.Coding.Blocks > 0 {
			return errors.New("sim: a transfer is planned or coded")
		}
		if len(c.Hosts) != c.nodes() {
			return fmt.Errorf("sim: names of %d hosts for %d nodes", len(c.Hosts), c.nodes())
		}
		if err := c.Plan.Validate(); err != nil {
			return fmt.Errorf("sim: %w", err)
		}
	}
	return c.validateCoding()
}

func (c *Config) validateCoding() error {
	if k := c.Coding; k != (coded.Coding{}) {
		if err := rlnc.CheckK(k.Blocks); err != nil || k.Names <= k.Blocks || k.Live < 1 {
			return fmt.Errorf("sim: generations of %d blocks, %d names, %d of them live", k.Blocks, k.Names, k.Live)
		}
	}
	if !c.Strategy.Gossip() {
		return nil
	}
	if err := rlnc.CheckK(c.Generation); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	if len(c.Clusters) > 1 || c.Faults.any() {
		return errors.New("sim: permutation gossip takes one cluster, and honest nodes")
	}
	return nil
}

// pieces is the number of pieces, which are blocks in permutation gossip.
func (c *Config) pieces() int {
	return int((c.Length + int64(c.PieceLength) - 1) / int64(c.PieceLength))
}

// blocksIn is the number of source blocks in a generation of a coded transfer, or of
// permutation gossip.
func (c *Config) blocksIn(g int) int {
	k := max(c.Coding.Blocks, c.Generation)
	return min(k, c.pieces()-g*k)
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
	return cmp.Or(c.NIC, defaultNIC)
}
