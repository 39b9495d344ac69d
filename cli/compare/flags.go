package compare

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// flags say what is compared, for the grid and for the simulator.
type flags struct {
	clusters, size, scenario, links string
	nic, dualNIC, kill              string
	slow                            []string
	rtt                             time.Duration
	seed                            uint64
	repeat                          int
	verbose, check, json            bool
	svg                             string
}

func (f *flags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.clusters, "clusters", "4x4", "clusters x nodes in each, or nodes such as 4,12,16,32; one number is one cluster")
	fl.StringVar(&f.size, "size", "240MB", "size of the content")
	fl.StringVar(&f.scenario, "scenario", "", "how fast links are: "+strings.Join(bench.ScenarioNames(), ", ")+" (default fast)")
	fl.StringVar(&f.links, "links", "", "file with the rates of the links instead: a line \"A B 3MB\" each; scenarios steady and mayhem")
	fl.StringVar(&f.nic, "nic", "", "rate of every node's NIC, both ways, such as 12.5MB (per second)")
	fl.StringArrayVar(&f.slow, "slow-node", nil, "a node whose NIC differs, such as C2=0.5MB; nobody waits for it; may be given again")
	fl.StringVar(&f.kill, "kill", "", "kill -9 nodes: 10%@5s a tenth after 5 s, 10%@5s+2s one every 2 s from then on")
	fl.DurationVar(&f.rtt, "rtt", 0, "round trip between clusters, such as 100ms")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fl.IntVar(&f.repeat, "repeat", 1, "runs of each system: the median and the spread are shown")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show for each link how long it stood idle, and when")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.StringVar(&f.svg, "svg", "", "draw the results into this file")
	fl.BoolVar(&f.check, "check", false, "fail when a copy is damaged, when mob sends more than 1.05 copies into a cluster, or when another system is faster")
}

// benchCase makes the case of the flags; an error is wrong usage.
func (f *flags) benchCase() (c bench.Case, err error) {
	c.RTT, c.Seed = f.rtt, f.seed
	if err := f.checkRepeat(); err != nil {
		return c, err
	}
	if f.rtt < 0 {
		return c, fmt.Errorf("--rtt %v is negative", f.rtt)
	}
	size, err := humanize.ParseBytes(f.size)
	if err != nil || size == 0 || size > 1<<40 {
		return c, fmt.Errorf("--size %q is no size such as 240MB", f.size)
	}
	c.Size = int64(size)
	if c.Clusters, err = bench.ParseClusters(f.clusters); err != nil {
		return c, fmt.Errorf("--clusters: %w", err)
	}
	if err := f.setNICs(c.Clusters); err != nil {
		return c, err
	}
	if f.kill != "" {
		if c.Kills, err = bench.ParseKills(f.kill); err != nil {
			return c, fmt.Errorf("--kill: %w", err)
		}
	}
	given, err := f.givenLinks()
	if err != nil {
		return c, fmt.Errorf("--links: %w", err)
	}
	if err := c.SetScenario(f.scenario, given); err != nil {
		return c, err
	}
	return c, c.Validate()
}

func (f *flags) checkRepeat() error {
	if f.repeat < 1 || f.repeat > 1000 {
		return fmt.Errorf("--repeat %d is not 1 to 1000", f.repeat)
	}
	return nil
}

// givenLinks are those of --links, nil when it is not given.
func (f *flags) givenLinks() (*netns.Links, error) {
	if f.links == "" {
		return nil, nil
	}
	file, err := os.Open(f.links)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	l, err := netns.ParseLinks(file)
	return &l, err
}

// setNICs gives the clusters their NICs.
func (f *flags) setNICs(clusters []netns.Cluster) error {
	nic, err := parseNIC("--nic", f.nic)
	if err != nil {
		return err
	}
	wan, err := parseNIC("--dual-nic", f.dualNIC)
	if err != nil {
		return err
	}
	for i := range clusters {
		clusters[i].NIC, clusters[i].WANNIC = nic, wan
	}
	for _, s := range f.slow {
		if err := setSlow(clusters, s); err != nil {
			return fmt.Errorf("--slow-node %s: %w", s, err)
		}
	}
	return nil
}

func setSlow(clusters []netns.Cluster, s string) error {
	name, text, _ := strings.Cut(s, "=")
	r, err := bench.ParseReceiver(name)
	if err != nil {
		return err
	}
	nic, err := netns.ParseRate(text)
	if err != nil {
		return err
	}
	for i := range clusters {
		if cl := &clusters[i]; cl.Name == r.Cluster {
			if cl.SlowNIC == nil {
				cl.SlowNIC = map[int]netns.Rate{}
			}
			cl.SlowNIC[r.Index] = nic
			return nil
		}
	}
	return fmt.Errorf("there is no cluster %s", r.Cluster)
}

// parseNIC reads a rate; none is no limit.
func parseNIC(flag, s string) (netns.Rate, error) {
	if s == "" {
		return 0, nil
	}
	r, err := netns.ParseRate(s)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", flag, err)
	}
	return r, nil
}
