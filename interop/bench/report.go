package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Report is what a comparison came to.
type Report struct {
	// Case in words, with Clusters as names and sizes.
	Case     string        `json:"case"`
	Scenario string        `json:"scenario"`
	Clusters []ClusterSize `json:"clusters"`
	Bytes    int64         `json:"bytes"`
	// Bound is the highest rate that any broadcast can have, in bytes per second,
	// and Ideal the time that it would take; zero when nothing is limited. Of the rate of a link, TCP payload
	// can have TCPShare; the bound does not know of it.
	Bound    float64 `json:"bound_bytes_per_s"`
	Ideal    float64 `json:"ideal_s"`
	TCPShare float64 `json:"tcp_share,omitempty"`
	// Results of the systems, in the order in which they were asked for.
	Results []Result `json:"results"`
	// LeftOut are systems that are not installed.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// ClusterSize is a cluster of a report; the first has the source.
type ClusterSize struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
}

// LeftOut is a system that did not run, and why.
type LeftOut struct {
	System string `json:"system"`
	Why    string `json:"why"`
}

// Result is the runs of a system.
type Result struct {
	System string `json:"system"`
	// Rate is the median of the runs' that ended well, in bytes per second, Slowest
	// and Fastest their spread. Zero: none did.
	Rate    float64 `json:"bytes_per_s"`
	Slowest float64 `json:"slowest_bytes_per_s"`
	Fastest float64 `json:"fastest_bytes_per_s"`
	Share   float64 `json:"share_of_bound"`
	// Runs are all of them, in order; MedianRun is the place of the one of the
	// median rate, from 0.
	MedianRun int    `json:"median_run"`
	Runs      []*Run `json:"runs"`
}

// Run is one run of a system.
type Run struct {
	// Error is why it did not end well; what is below is then as far as it came.
	Error string `json:"error,omitempty"`
	// Rate is the content by Last.
	Rate float64 `json:"bytes_per_s"`
	// Median and Last are when half of the receivers were whole and when all were,
	// in seconds from the start of the fetching. Killed and slow nodes are not
	// counted.
	Median float64 `json:"median_s"`
	Last   float64 `json:"last_s"`
	// Finished are the times of all receivers, Killed those that had none, Slow
	// those that nobody waited for.
	Finished map[string]float64 `json:"finished_s"`
	Killed   []string           `json:"killed,omitempty"`
	Slow     []string           `json:"slow,omitempty"`
	// Copies is what entered each cluster over the WAN, by the size.
	Copies []ClusterCopies `json:"wan_copies,omitempty"`
	// CPU is that of all processes of the system, in seconds, Peak the most
	// resident memory of any one, in bytes.
	CPU  float64 `json:"cpu_s"`
	Peak int64   `json:"peak_bytes"`
	// CPUPerGB is the CPU by the bytes that all whole receivers got together.
	CPUPerGB float64 `json:"cpu_s_per_gb,omitempty"`
	// Machine is the share of all cores' time in which they were not idle: near 1
	// the machine is the limit, not the links.
	Machine float64 `json:"machine_share"`
	// Intact of Copied copies were the same as the original.
	Intact int `json:"intact"`
	Copied int `json:"copied"`
	// Links are those into other clusters than the source's, or of a single cluster
	// the NICs of its nodes, from the node to the cluster; Use is how much of all
	// their rates together was used, over time.
	Links []LinkReport `json:"links,omitempty"`
	Use   []Use        `json:"use,omitempty"`
	// Control is the share of control messages of the bytes on the WAN.
	Control float64 `json:"control_share,omitempty"`
	// ControlPerPayload is the bytes of all control messages, WAN and LAN, by those
	// delivered to all receivers: the content for each that is whole.
	ControlPerPayload float64 `json:"control_per_payload,omitempty"`
}

// NewReport begins a report.
func NewReport(c *Case) *Report {
	r := &Report{Case: c.String(), Scenario: c.Name, Bytes: c.Size, Ideal: c.Ideal().Seconds()}
	if r.Ideal > 0 {
		r.Bound = float64(c.Size) / r.Ideal
	}
	for _, cl := range c.Clusters {
		r.Clusters = append(r.Clusters, ClusterSize{cl.Name, cl.Nodes})
	}
	return r
}

// Add puts a run of a system into the report.
func (r *Report) Add(system string, run *Run) {
	i := slices.IndexFunc(r.Results, func(res Result) bool { return res.System == system })
	if i < 0 {
		i = len(r.Results)
		r.Results = append(r.Results, Result{System: system})
	}
	res := &r.Results[i]
	res.Runs = append(res.Runs, run)
	res.MedianRun = slices.Index(res.Runs, res.Median())
	if good := res.good(); len(good) > 0 {
		res.Rate, res.Slowest, res.Fastest = res.Median().Rate, good[0].Rate, good[len(good)-1].Rate
		if r.Bound > 0 {
			res.Share = res.Rate / r.Bound
		}
	}
}

// good are the runs that ended well, the slowest first.
func (r *Result) good() []*Run {
	var good []*Run
	for _, run := range r.Runs {
		if run.Error == "" {
			good = append(good, run)
		}
	}
	slices.SortStableFunc(good, func(a, b *Run) int { return cmp.Compare(a.Rate, b.Rate) })
	return good
}

// Median is the run of median rate among those that ended well, or the last run
// when none did.
func (r *Result) Median() *Run {
	if good := r.good(); len(good) > 0 {
		return good[(len(good)-1)/2]
	}
	return r.Runs[len(r.Runs)-1]
}

// String is what the run came to, in short.
func (r *Run) String() string {
	if r.Error != "" {
		return "failed: " + oneLine(r.Error)
	}
	return fmt.Sprintf("%s MB/s, %d of %d copies intact", figure(r.Rate/1e6), r.Intact, r.Copied)
}

// WriteJSON writes all of the report.
func (r *Report) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// finish sets the times of a run from those of the receivers that count.
func (r *Run) finish(counted []time.Duration, bytes int64) {
	if len(counted) == 0 {
		return
	}
	slices.Sort(counted)
	r.Median = counted[(len(counted)-1)/2].Seconds()
	r.Last = counted[len(counted)-1].Seconds()
	if r.Last > 0 {
		r.Rate = float64(bytes) / r.Last
	}
}
