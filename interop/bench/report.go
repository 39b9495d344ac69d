package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Report is the results of a comparison.
type Report struct {
	// Made is how the runs were made, nil for a simulation.
	Made *Made `json:"made,omitempty"`
	// Case describes the case in a line.
	Case     string        `json:"case"`
	Scenario string        `json:"scenario"`
	Clusters []ClusterSize `json:"clusters"`
	// Bytes is the size of the content.
	Bytes int64 `json:"bytes"`
	// Bound is the highest rate of any broadcast, in bytes per second, and Ideal the time
	// at that rate; zero if nothing is limited. TCPShare is the part of a link's rate
	// that TCP payload can have, which the bound does not account for; zero in
	// simulations.
	Bound    float64 `json:"bound_bytes_per_s"`
	Ideal    float64 `json:"ideal_s"`
	TCPShare float64 `json:"tcp_share,omitempty"`
	// Results of the systems, in the order of their first runs.
	Results []Result `json:"results"`
	// LeftOut lists systems that are not installed.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// ClusterSize is a cluster of a report. The first has the source.
type ClusterSize struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Racks are the numbers of nodes in each of its racks, named such as A/r1.
	Racks []int `json:"racks,omitempty"`
}

// LeftOut is a system that did not run, and the reason.
type LeftOut struct {
	System string `json:"system"`
	Why    string `json:"why"`
}

// Result is the runs of a system.
type Result struct {
	System string `json:"system"`
	// Rate is the median of the runs that succeeded, in bytes per second, Slowest and
	// Fastest their spread; zero if none did. Share is Rate by the bound.
	Rate    float64 `json:"bytes_per_s"`
	Slowest float64 `json:"slowest_bytes_per_s"`
	Fastest float64 `json:"fastest_bytes_per_s"`
	Share   float64 `json:"share_of_bound"`
	// Runs are in order. MedianRun is the index of the run with the median rate.
	MedianRun int    `json:"median_run"`
	Runs      []*Run `json:"runs"`
}

// Run is one run of a system.
type Run struct {
	// Error is the reason why the run failed; the other fields are then those up to the failure.
	Error string `json:"error,omitempty"`
	// Rate is the size of the content by Last, in bytes per second.
	Rate float64 `json:"bytes_per_s"`
	// Median and Last are the times, in seconds from the start of the fetching, when
	// half of the receivers and all of them were complete, without killed and slow ones.
	Median float64 `json:"median_s"`
	Last   float64 `json:"last_s"`
	// Finished has the times of all receivers that became complete. Killed lists those that
	// were killed, Slow the ones that the run did not wait for.
	Finished map[string]float64 `json:"finished_s"`
	Killed   []string           `json:"killed,omitempty"`
	Slow     []string           `json:"slow,omitempty"`
	// Copies counts the copies that entered each cluster over the WAN; empty for a single cluster.
	Copies []ClusterCopies `json:"wan_copies,omitempty"`
	// RackCopies counts the copies that entered each rack over its uplink.
	RackCopies []ClusterCopies `json:"rack_copies,omitempty"`
	// CPU is the CPU time of all processes of the system, in seconds; Peak is the highest
	// resident memory of any one, in bytes.
	CPU  float64 `json:"cpu_s"`
	Peak int64   `json:"peak_bytes"`
	// CPUPerGB is CPU by the bytes of all copies together.
	CPUPerGB float64 `json:"cpu_s_per_gb,omitempty"`
	// Machine is the share of the time of all cores in which they were not idle: near 1
	// they are the bottleneck, not the links.
	Machine float64 `json:"machine_share"`
	// Intact of Copied copies were equal to the original.
	Intact int `json:"intact"`
	Copied int `json:"copied"`
	// Links are those into clusters other than the source's, or in a single cluster the
	// NICs, from node to cluster; and the uplinks of racks, if they have a rate, in both directions.
	Links []LinkReport `json:"links,omitempty"`
	// Control is the share of the bytes on the WAN that is control messages.
	Control float64 `json:"control_share,omitempty"`
	// ControlPerPayload is the bytes of all control messages, WAN and LAN, by the bytes of
	// all copies.
	ControlPerPayload float64 `json:"control_per_payload,omitempty"`
}

// NewReport makes a report without results.
func NewReport(c *Case) *Report {
	r := &Report{Case: c.String(), Scenario: c.Name, Bytes: c.Size, Ideal: c.Ideal().Seconds()}
	if r.Ideal > 0 {
		r.Bound = float64(c.Size) / r.Ideal
	}
	for _, cl := range c.Clusters {
		r.Clusters = append(r.Clusters, ClusterSize{cl.Name, cl.Nodes, cl.Racks})
	}
	return r
}

// Add adds a run of a system.
func (r *Report) Add(system string, run *Run) {
	i := slices.IndexFunc(r.Results, func(res Result) bool { return res.System == system })
	if i < 0 {
		i = len(r.Results)
		r.Results = append(r.Results, Result{System: system})
	}
	res := &r.Results[i]
	res.Runs = append(res.Runs, run)
	res.MedianRun = slices.Index(res.Runs, res.Median())
	if good := res.succeeded(); len(good) > 0 {
		res.Rate, res.Slowest, res.Fastest = res.Median().Rate, good[0].Rate, good[len(good)-1].Rate
		if r.Bound > 0 {
			res.Share = res.Rate / r.Bound
		}
	}
}

// succeeded lists the runs without an error, the slowest first.
func (r *Result) succeeded() []*Run {
	var good []*Run
	for _, run := range r.Runs {
		if run.Error == "" {
			good = append(good, run)
		}
	}
	slices.SortStableFunc(good, func(a, b *Run) int { return cmp.Compare(a.Rate, b.Rate) })
	return good
}

// Median is the run with the median rate of those that succeeded, or the last run if none
// did.
func (r *Result) Median() *Run {
	if good := r.succeeded(); len(good) > 0 {
		return good[(len(good)-1)/2]
	}
	return r.Runs[len(r.Runs)-1]
}

// String is the result in short.
func (r *Run) String() string {
	if r.Error != "" {
		return "failed: " + oneLine(r.Error)
	}
	return fmt.Sprintf("%s MB/s, %d of %d copies intact", figure(r.Rate/1e6), r.Intact, r.Copied)
}

// setTimes records the times of the receivers that became complete, and the ones that were killed or are
// slow. It fails if another receiver is missing.
func (r *Run) setTimes(c *Case, complete map[Receiver]time.Duration, killed map[Receiver]bool) error {
	var counted []time.Duration
	missing := 0
	for _, n := range c.Receivers() {
		at, done := complete[n]
		if done {
			r.Finished[n.String()] = at.Seconds()
		}
		switch {
		case killed[n]:
			r.Killed = append(r.Killed, n.String())
		case c.Slow(n):
			r.Slow = append(r.Slow, n.String())
		case done:
			counted = append(counted, at)
		default:
			missing++
		}
	}
	if len(counted) > 0 {
		slices.Sort(counted)
		r.Median = counted[(len(counted)-1)/2].Seconds()
		r.Last = counted[len(counted)-1].Seconds()
	}
	if r.Last > 0 {
		r.Rate = float64(c.Size) / r.Last
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d receivers are not complete", missing, missing+len(counted))
	}
	return nil
}

// Sums returns the report with the sum of the rates of all receivers that a run waited for as its rate.
func (r *Report) Sums() *Report {
	all := *r
	all.Results = nil
	for _, res := range r.Results {
		for _, run := range res.Runs {
			run.Rate = 0
			for name, at := range run.Finished {
				if !slices.Contains(run.Slow, name) {
					run.Rate += float64(r.Bytes) / at
				}
			}
			all.Add(res.System, run)
		}
	}
	return &all
}
