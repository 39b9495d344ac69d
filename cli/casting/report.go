package casting

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cast/hostset"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/proto"
)

// lateBy is the minimum delay of a late host.
const lateBy = time.Second

// report is the result of a cast.
type report struct {
	Source string `json:"source"`
	// Bytes is the size of the content, -1 if it is not known.
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	// Rate is the sum of all hosts, in bytes per second.
	Rate    int64        `json:"rate"`
	FromWAN int64        `json:"from_wan"`
	FromLAN int64        `json:"from_lan"`
	Done    int          `json:"done"`
	Failed  int          `json:"failed"`
	Hosts   []hostReport `json:"hosts"`
	// DroppedBits counts files and directories without their setuid, setgid or sticky bit.
	DroppedBits int `json:"dropped_bits,omitempty"`

	res *cast.Result
}

// hostReport is the result of one host.
type hostReport struct {
	Host    string     `json:"host"`
	Cluster string     `json:"cluster"`
	Phase   cast.Phase `json:"phase"`
	Bytes   int64      `json:"bytes"`
	FromWAN int64      `json:"from_wan"`
	FromLAN int64      `json:"from_lan"`
	// FromRack is the part of FromLAN that came from the same cluster, where its name is a path.
	FromRack int64   `json:"from_rack,omitempty"`
	Seconds  float64 `json:"seconds"`
	// Exit is the exit status of the command of --exec, nil if it has not exited.
	Exit  *int   `json:"exit,omitempty"`
	Error string `json:"error,omitempty"`
	// Overwritten is set if DEST existed, and is now partly overwritten.
	Overwritten bool `json:"overwritten,omitempty"`
}

func newReport(res *cast.Result, cfg cast.Config) *report {
	r := &report{Source: cfg.Source, Bytes: res.Length, Seconds: res.Took.Seconds(), DroppedBits: res.DroppedBits, res: res}
	var got int64
	for _, h := range res.Hosts {
		r.Hosts = append(r.Hosts, hostReport{
			Host: h.Name, Cluster: h.Cluster, Phase: h.Phase, Bytes: h.Bytes, FromWAN: h.WAN, FromLAN: h.LAN, FromRack: h.Rack,
			Seconds: h.Took.Seconds(), Exit: h.Exit, Error: h.Error, Overwritten: h.Overwriting,
		})
		got += h.Bytes
		r.FromWAN += h.WAN
		r.FromLAN += h.LAN
		switch h.Phase {
		case cast.Done:
			r.Done++
		case cast.Failed:
			r.Failed++
		}
	}
	r.Rate = term.Average(got, res.Took)
	return r
}

// print prints the report for people, with failed hosts by cause.
func (r *report) print(w io.Writer) error {
	t := term.NewTextWriter(w)
	name := r.Source
	if name == "-" {
		name = "standard input"
	}
	size := ""
	if r.Bytes >= 0 {
		size = term.Bytes(r.Bytes) + " "
	}
	t.Line("%s: %sto %d of %s in %s, %s in total; %s from WAN, %s from LAN", name, size, r.Done, term.Plural(len(r.Hosts), "host"),
		term.Duration(r.res.Took), term.Rate(r.Rate), term.Bytes(r.FromWAN), term.Bytes(r.FromLAN))
	if r.DroppedBits > 0 {
		t.Line("  each host has %s", command.DroppedBits(r.DroppedBits))
	}
	r.printClusters(t)
	for _, phase := range phases() {
		var hosts []cast.HostResult
		for _, h := range r.res.Hosts {
			if h.Phase == phase && phase != cast.Done {
				hosts = append(hosts, h)
			}
		}
		for _, c := range causes(hosts) {
			t.Line("%d %s: %s", len(c.hosts), phase, c)
		}
		if phase == cast.Fetching && len(hosts) > 0 {
			t.Line("  slowest: %s", slowest(hosts, r.Bytes))
		}
	}
	if late := r.late(); late != "" {
		t.Line("%s", late)
	}
	return t.Flush()
}

// late names the last host that was done, if it was much later than half of them.
func (r *report) late() string {
	var done []cast.HostResult
	for _, h := range r.res.Hosts {
		if h.Phase == cast.Done {
			done = append(done, h)
		}
	}
	if len(done) == 0 {
		return ""
	}
	slices.SortStableFunc(done, func(a, b cast.HostResult) int { return cmp.Compare(a.Took, b.Took) })
	last, half := done[len(done)-1], done[(len(done)-1)/2]
	if last.Took < lateBy+half.Took*5/4 {
		return ""
	}
	return fmt.Sprintf("the last was %s, after %s; half of them had it after %s", last.Name,
		term.Duration(last.Took), term.Duration(half.Took))
}

// printClusters prints what entered each cluster, if there are several: first the sites and then their racks,
// where names have several parts.
func (r *report) printClusters(t term.TextWriter) {
	sites, racks := r.sums(1), r.sums(proto.MaxClusterParts)
	if len(racks) < 2 {
		return
	}
	for _, c := range sites {
		t.Line("  %-16s %d of %s, %s from WAN%s, %s from LAN", c.name, c.done, term.Plural(c.hosts, "host"),
			term.Bytes(c.fromWAN), r.copies(c.fromWAN), term.Bytes(c.fromLAN))
		for _, rack := range racks {
			if proto.ClusterGroup(rack.name, 1) == c.name && proto.ClusterParts(rack.name) > 1 {
				t.Line("    %-14s %d of %s, %s from other clusters%s, %s from within", rack.name, rack.done, term.Plural(rack.hosts, "host"),
					term.Bytes(rack.fromOutside), r.copies(rack.fromOutside), term.Bytes(rack.fromRack))
			}
		}
	}
}

// copies formats the number of copies received, if the size is known.
func (r *report) copies(bytes int64) string {
	if r.Bytes <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.2f copies)", float64(bytes)/float64(r.Bytes))
}

// clusterSum adds up the hosts of a cluster or site.
type clusterSum struct {
	name                                    string
	hosts, done                             int
	fromWAN, fromLAN, fromRack, fromOutside int64
}

// sums adds up hosts by the first parts of the names of their clusters.
func (r *report) sums(parts int) (all []*clusterSum) {
	by := map[string]*clusterSum{}
	for _, h := range r.Hosts {
		name := proto.ClusterGroup(h.Cluster, parts)
		c := by[name]
		if c == nil {
			c = &clusterSum{name: name}
			by[name], all = c, append(all, c)
		}
		c.hosts++
		if h.Phase == cast.Done {
			c.done++
		}
		c.fromWAN += h.FromWAN
		c.fromLAN += h.FromLAN
		c.fromRack += h.FromRack
		c.fromOutside += h.FromWAN + h.FromLAN - h.FromRack
	}
	return all
}

// cause is a group of hosts that failed for the same reason.
type cause struct {
	hosts []cast.HostResult
	text  string
}

// String returns the set of the hosts, and the reason if there is one.
func (c cause) String() string { return strings.TrimSpace(fold(c.hosts) + " " + c.text) }

// causes folds hosts by why they failed, the most frequent reason first.
func causes(hosts []cast.HostResult) (all []cause) {
	at := map[string]int{}
	for _, h := range hosts {
		text := h.Error
		if h.Overwriting {
			text = strings.TrimPrefix(text+"; what was at DEST is partly overwritten", "; ")
		}
		i, ok := at[text]
		if !ok {
			i = len(all)
			at[text], all = i, append(all, cause{text: text})
		}
		all[i].hosts = append(all[i].hosts, h)
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(len(b.hosts), len(a.hosts)) })
	return all
}

// fold returns the set of some hosts.
func fold(hosts []cast.HostResult) string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return hostset.Fold(names)
}

// hosts lists the hosts that have the content, or that do not, in the format of [cast.Hosts]: a set
// for each cluster.
func (r *report) hosts(done bool) string {
	var clusters []string
	of := map[string][]cast.HostResult{}
	for _, h := range r.res.Hosts {
		if (h.Phase == cast.Done) != done {
			continue
		}
		if of[h.Cluster] == nil {
			clusters = append(clusters, h.Cluster)
		}
		of[h.Cluster] = append(of[h.Cluster], h)
	}
	var b strings.Builder
	for _, c := range clusters {
		b.WriteString(fold(of[c]))
		if c != cast.DefaultCluster {
			b.WriteString(" " + c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// writeHosts writes hosts to a file, whose path may be empty for none.
func writeHosts(env *command.Env, path, hosts string) error {
	if path == "" {
		return nil
	}
	return env.Overwrite(path, []byte(hosts))
}
