package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// repeatFlags are the flags of everything that runs several times.
type repeatFlags struct {
	seed   uint64
	repeat int
}

func (f *repeatFlags) add(fl *pflag.FlagSet, repeat int, usage string) {
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fl.IntVar(&f.repeat, "repeat", repeat, usage)
}

func (f *repeatFlags) check() error {
	if f.repeat < 1 || f.repeat > 1000 {
		return fmt.Errorf("--repeat %d is not 1 to 1000", f.repeat)
	}
	return nil
}

// commonFlags are the flags of both grid and sim.
type commonFlags struct {
	repeatFlags
	clusters, size, scenario, links string
	nic, dualNIC, uplink, kill      string
	plan                            string // of a simulation
	loss, congestion                string
	slow, systems                   []string
	rtt                             time.Duration
	wan                             netns.Rate // of all links between clusters; zero: of the scenario
	verbose, verify                 bool
}

func (f *commonFlags) add(fl *pflag.FlagSet, systems string) {
	f.repeatFlags.add(fl, 1, "runs of each system: the median and the spread are shown")
	fl.StringSliceVar(&f.systems, "systems", []string{own}, systems)
	fl.StringVar(&f.clusters, "clusters", "4x4", "clusters x nodes in each, or nodes such as 4,12,16,32; one number is one cluster; racks such as 2x(4x5)")
	fl.StringVar(&f.size, "size", "240MB", "size of the content")
	fl.StringVar(&f.scenario, "scenario", "", "how fast links are: "+strings.Join(bench.ScenarioNames(), ", ")+" (default fast)")
	fl.StringVar(&f.links, "links", "", "file with the rates of the links instead: a line \"A B 3MB\" each; scenarios steady and mayhem")
	fl.StringVar(&f.nic, "nic", "", "rate of every node's NIC, both ways, such as 12.5MB (per second)")
	fl.StringVar(&f.uplink, "rack-uplink", "", "rate between each rack and its site's switch, both ways, such as 12.5MB")
	fl.StringArrayVar(&f.slow, "slow-node", nil, "a node whose NIC differs, such as C2=0.5MB; a run does not wait for it; repeatable")
	fl.StringVar(&f.kill, "kill", "", "kill -9 nodes: 10%@5s a tenth after 5 s, 10%@5s+2s one every 2 s from then on")
	fl.DurationVar(&f.rtt, "rtt", 0, "round trip between clusters, such as 100ms")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show what each link carried")
	fl.BoolVar(&f.verify, "check", false,
		"fail when a copy is damaged, when mob sends more than 1.05 copies into a cluster or rack, or when another system is faster")
}

// benchCase makes the case of the flags. An error is a usage error.
func (f *commonFlags) benchCase() (c bench.Case, err error) {
	c.RTT, c.Seed = f.rtt, f.seed
	c.Congestion, c.CongestionOnly = strings.CutSuffix(f.congestion, "-only")
	if err := f.check(); err != nil {
		return c, err
	}
	if f.rtt < 0 {
		return c, fmt.Errorf("--rtt %v is negative", f.rtt)
	}
	c.Loss, err = parseLoss(f.loss)
	if err != nil {
		return c, err
	}
	size, err := humanize.ParseBytes(f.size)
	if err != nil || size == 0 || size > 1<<40 {
		return c, fmt.Errorf("--size %q is not a size such as 240MB", f.size)
	}
	c.Size = int64(size)
	c.Clusters, err = bench.ParseClusters(f.clusters)
	if err != nil {
		return c, fmt.Errorf("--clusters: %w", err)
	}
	if err := f.setNICs(c.Clusters); err != nil {
		return c, err
	}
	if f.kill != "" {
		c.Kills, err = bench.ParseKills(f.kill)
		if err != nil {
			return c, fmt.Errorf("--kill: %w", err)
		}
	}
	given, err := f.givenLinks(c.Names())
	if err != nil {
		return c, fmt.Errorf("--links: %w", err)
	}
	if err := c.SetScenario(f.scenario, given); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// givenLinks reads the file of --links; nil without the flag.
func (f *commonFlags) givenLinks(clusters []string) (*netns.Links, error) {
	if f.wan > 0 {
		l := netns.Uniform(f.wan, clusters...)
		return &l, nil
	}
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

// setNICs sets the rates of --nic, --dual-nic, --rack-uplink and --slow-node.
func (f *commonFlags) setNICs(clusters []netns.Cluster) error {
	var nic, wan, uplink netns.Rate
	for _, r := range []struct {
		flag, text string
		rate       *netns.Rate
	}{{"--nic", f.nic, &nic}, {"--dual-nic", f.dualNIC, &wan}, {"--rack-uplink", f.uplink, &uplink}} {
		if r.text == "" {
			continue // no limit
		}
		var err error
		*r.rate, err = netns.ParseRate(r.text)
		if err != nil {
			return fmt.Errorf("%s: %w", r.flag, err)
		}
	}
	racked := slices.ContainsFunc(clusters, func(c netns.Cluster) bool { return len(c.Racks) > 0 })
	switch {
	case uplink > 0 && !racked:
		return fmt.Errorf("--rack-uplink is for racks: give --clusters such as 2x(4x5)")
	case wan > 0 && racked:
		return fmt.Errorf("--dual-nic is for clusters without racks")
	}
	for i := range clusters {
		clusters[i].NIC, clusters[i].WANNIC, clusters[i].Uplink = nic, wan, uplink
	}
	for _, s := range f.slow {
		if err := setSlowNode(clusters, s); err != nil {
			return fmt.Errorf("--slow-node %s: %w", s, err)
		}
	}
	return nil
}

func setSlowNode(clusters []netns.Cluster, s string) error {
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

// parseLoss parses a percentage; an empty string is none.
func parseLoss(s string) (float64, error) {
	if s == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(v >= 0 && v <= 50) {
		return 0, fmt.Errorf("--loss %q is not a percentage from 0%% to 50%%, such as 0.5%%", s)
	}
	return v / 100, nil
}

// report is a result that can be printed.
type report interface{ WriteTable(out io.Writer) error }

// printReport prints a report.
func printReport(a *command.App, r report) error {
	return a.Print(r, func(w term.TextWriter) { _ = r.WriteTable(w) }) // Print returns the error
}

// finish prints a report, with its links if --verbose. It returns an error if a run failed, or if --check finds fault with mob
// among the systems.
func (f *commonFlags) finish(a *command.App, r *bench.Report, systems []bench.System) error {
	errs := []error{printReport(a, r)}
	if f.verbose && !a.JSON {
		errs = append(errs, r.WriteLinks(a.Out))
	}
	errs = append(errs, r.Failed())
	if f.verify {
		errs = append(errs, r.Check(ownNames(systems)...))
	}
	return errors.Join(errs...)
}

// runs calls run --repeat times, with a seed for each call, and shows how long it takes.
func (f *repeatFlags) runs(ctx context.Context, a *command.App, system, what string, run func(seed uint64) error) error {
	for i := range f.repeat {
		err := await(ctx, a, f.runName(system, i)+": "+what, func() error { return run(f.seed + uint64(i)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// await calls run, and shows how long it takes. Simulations and planners cannot be stopped: if ctx ends first, await returns and
// leaves run running.
func await(ctx context.Context, a *command.App, what string, run func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	screen := a.Screen(false)
	defer screen.Clear()
	began := time.Now()
	tick := time.NewTicker(term.DrawInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			screen.Show(term.Text(fmt.Sprintf("%s for %.0f s", what, time.Since(began).Seconds())))
		case err := <-ended:
			return err
		}
	}
}

// runName is the name of a system, with the number of the run if there are several.
func (f *repeatFlags) runName(system string, run int) string {
	if f.repeat == 1 {
		return system
	}
	return fmt.Sprintf("%s, run %d of %d", system, run+1, f.repeat)
}
