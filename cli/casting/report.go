package casting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/cast"
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

	cfg  cast.Config
	all  hosts
	took time.Duration
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
	r := &report{Source: cfg.Source, Bytes: res.Length, Seconds: res.Took.Seconds(),
		DroppedBits: res.DroppedBits, cfg: cfg, all: res.Hosts, took: res.Took}
	var got int64
	for _, h := range res.Hosts {
		r.Hosts = append(r.Hosts, hostReport{
			Host: h.Name, Cluster: h.Cluster, Phase: h.Phase, Bytes: h.Bytes, FromWAN: h.WAN, FromLAN: h.LAN, FromRack: h.Rack,
			Seconds: h.Took.Seconds(), Exit: h.Exit, Error: h.Error, Overwritten: h.Overwriting,
		})
		got += h.Bytes
		r.FromWAN += h.WAN
		r.FromLAN += h.LAN
	}
	r.Done, r.Failed = len(r.all.in(cast.Done)), len(r.all.in(cast.Failed))
	r.Rate = term.Average(got, res.Took)
	return r
}

// print prints the report for people, with failed hosts by cause.
func (r *report) print(t term.TextWriter) {
	size := ""
	if r.Bytes >= 0 {
		size = term.Bytes(r.Bytes) + " "
	}
	t.Line("%s: %s%s %d of %s in %s, %s in total; %s from WAN, %s from LAN", sourceName(&r.cfg), size, way(&r.cfg), r.Done, term.Plural(len(r.Hosts), "host"),
		term.Duration(r.took), term.Rate(r.Rate), term.Bytes(r.FromWAN), term.Bytes(r.FromLAN))
	switch {
	case r.DroppedBits > 0 && r.cfg.Output != "":
		t.Line("  the copies have %s", command.DroppedBits(r.DroppedBits))
	case r.DroppedBits > 0:
		t.Line("  each host has %s", command.DroppedBits(r.DroppedBits))
	}
	r.printClusters(t)
	for phase, hosts := range r.all.phases {
		if phase == cast.Done {
			continue
		}
		for _, c := range hosts.causes() {
			t.Line("%d %s: %s", len(c.hosts), phase, c)
		}
		if phase == cast.Fetching {
			t.Line("  slowest: %s", hosts.slowest(r.Bytes))
		}
	}
	if late := r.late(); late != "" {
		t.Line("%s", late)
	}
}

// result returns the number of hosts that are done as a sentence.
func (r *report) result() string {
	if r.cfg.Output != "" {
		return fmt.Sprintf("the content of %d of %s is here", r.Done, term.Plural(len(r.Hosts), "host"))
	}
	return fmt.Sprintf("%d of %s have the content", r.Done, term.Plural(len(r.Hosts), "host"))
}

// late names the last host that was done, if it was much later than half of them.
func (r *report) late() string {
	done := r.all.in(cast.Done)
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
				outside := rack.fromWAN + rack.fromLAN - rack.fromRack
				t.Line("    %-14s %d of %s, %s from other clusters%s, %s from within", rack.name, rack.done, term.Plural(rack.hosts, "host"),
					term.Bytes(outside), r.copies(outside), term.Bytes(rack.fromRack))
			}
		}
	}
}

// copies formats the number of copies received, if the size is known.
func (r *report) copies(bytes int64) string {
	if r.Bytes <= 0 || r.cfg.Output != "" {
		return ""
	}
	return fmt.Sprintf(" (%.2f copies)", float64(bytes)/float64(r.Bytes))
}

// clusterSum adds up the hosts of a cluster or site.
type clusterSum struct {
	name                       string
	hosts, done                int
	fromWAN, fromLAN, fromRack int64
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
	}
	return all
}

// hosts lists the hosts that have the content, or that do not, in the format of [cast.Hosts]: a set
// for each cluster.
func (r *report) hosts(done bool) string {
	var b strings.Builder
	for _, c := range r.sums(proto.MaxClusterParts) {
		some := slices.DeleteFunc(slices.Clone(r.all), func(h cast.HostResult) bool {
			return h.Cluster != c.name || (h.Phase == cast.Done) != done
		})
		switch {
		case len(some) == 0:
		case c.name == cast.DefaultCluster:
			fmt.Fprintln(&b, some.fold())
		default:
			fmt.Fprintln(&b, some.fold(), c.name)
		}
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
