package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mobgrid/mob/cast/hostset"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/mob/plan"
)

// planReport is the output of mob-bench plan. Rates are in bytes per second.
type planReport struct {
	Algorithm string `json:"algorithm"`
	Source    string `json:"source"`
	// PlanningSeconds includes finding the routes.
	PlanningSeconds float64    `json:"planning_seconds"`
	Hosts           []planHost `json:"hosts"`
	Trees           []planTree `json:"trees"`

	parents [][]int // of each tree, by host
}

// planHost is a host that gets the content, with its min-cut. Rates are left out where nothing limits
// them.
type planHost struct {
	Name      string   `json:"name"`
	Cluster   string   `json:"cluster,omitempty"`
	Rate      *float64 `json:"rate,omitempty"`
	MinCut    *float64 `json:"min_cut,omitempty"`
	LimitedBy []string `json:"limited_by"`
}

// planTree is a tree: the parent of each host in it.
type planTree struct {
	Rate    float64           `json:"rate"`
	Share   float64           `json:"share"`
	Parents map[string]string `json:"parents"`
}

func newPlanReport(
	t *plan.Topology, algorithm string, p *plan.Plan, rates []float64, cuts []plan.Cut, took time.Duration,
) *planReport {
	r := &planReport{Algorithm: algorithm, Source: p.Hosts[0], PlanningSeconds: took.Seconds()}
	number := make(map[string]int, len(t.Hosts))
	for i, h := range t.Hosts {
		number[h.Name] = i
	}
	finite := func(v float64) *float64 {
		if math.IsInf(v, 1) {
			return nil
		}
		return &v
	}
	for h, name := range p.Hosts[1:] {
		c := cuts[number[name]]
		r.Hosts = append(r.Hosts, planHost{
			Name: name, Cluster: p.Clusters[h+1], Rate: finite(rates[h+1]),
			MinCut: finite(c.Rate), LimitedBy: append([]string{}, c.Limits...),
		})
	}
	all := 0.0
	for _, tree := range p.Trees {
		all += tree.Rate
	}
	for _, tree := range p.Trees {
		of := planTree{Rate: tree.Rate, Share: tree.Rate / all, Parents: make(map[string]string)}
		for h, parent := range tree.Parents {
			if parent >= 0 {
				of.Parents[p.Hosts[h]] = p.Hosts[parent]
			}
		}
		r.Trees, r.parents = append(r.Trees, of), append(r.parents, tree.Parents)
	}
	return r
}

// shownTrees is the number of trees that print draws.
const shownTrees = 8

// print prints the trees, and the rate of each host.
func (r *planReport) print(out term.TextWriter) {
	fmt.Fprintf(out, "%s from %s to %s: %s, planned in %.1f ms\n",
		r.Algorithm, r.Source, term.Plural(len(r.Hosts), "host"), term.Plural(len(r.Trees), "tree"), 1000*r.PlanningSeconds)
	for i, t := range r.Trees {
		if i == shownTrees {
			fmt.Fprintf(out, "\nand %s, which --json lists\n", term.Plural(len(r.Trees)-i, "tree"))
			break
		}
		fmt.Fprintf(out, "\ntree %d: %s, %.1f %% of the pieces, %s\n", i+1, planRate(&t.Rate), 100*t.Share, term.Plural(len(t.Parents), "host"))
		r.draw(out, i)
	}
	fmt.Fprintln(out)
	r.printHosts(out)
}

// printHosts prints a line for hosts that get the same, for the same reason.
func (r *planReport) printHosts(out io.Writer) {
	type line struct{ cluster, rate, cut, limits string }
	var lines []line
	names := make(map[line][]string)
	for _, h := range r.Hosts {
		l := line{h.Cluster, planRate(h.Rate), planRate(h.MinCut), limitNames(h.LimitedBy)}
		if names[l] == nil {
			lines = append(lines, l)
		}
		names[l] = append(names[l], h.Name)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "hosts\tcluster\trate\tmin-cut\tcut")
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", hostset.Fold(names[l]), cmp.Or(l.cluster, "-"), l.rate, l.cut, cmp.Or(l.limits, "-"))
	}
	_ = w.Flush() // out keeps the error
}

// limitNames lists limits, and counts those beyond some.
func limitNames(all []string) string {
	const most = 6
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// planRate formats a rate with three digits; nil means no limit.
func planRate(v *float64) string {
	switch {
	case v == nil:
		return "unlimited"
	case *v >= 99.95e6:
		return fmt.Sprintf("%.0f MB/s", *v/1e6)
	case *v >= 9.995e6:
		return fmt.Sprintf("%.1f MB/s", *v/1e6)
	case *v >= 0.1e6:
		return fmt.Sprintf("%.2f MB/s", *v/1e6)
	}
	return term.Rate(int64(*v))
}

// name returns the name of a host of the plan.
func (r *planReport) name(h int) string {
	if h == 0 {
		return r.Source
	}
	return r.Hosts[h-1].Name
}

// children returns the hosts that each host sends to in a tree.
func (r *planReport) children(tree int) [][]int {
	children := make([][]int, len(r.Hosts)+1)
	for h, parent := range r.parents[tree] {
		if parent >= 0 {
			children[parent] = append(children[parent], h)
		}
	}
	return children
}

// drawWidth is the width of a line of a tree, and drawDepth how deep it is drawn.
const (
	drawWidth = 90
	drawDepth = 12
)

// draw draws a tree. An only child follows its parent in the same line. Several children have a line each, except
// that the children without children share one.
func (r *planReport) draw(out io.Writer, tree int) {
	children := r.children(tree)
	var line func(h int, first, rest string, depth int)
	line = func(h int, first, rest string, depth int) {
		text := first + r.name(h)
		for ; len(children[h]) == 1; h = children[h][0] {
			next := " > " + r.name(children[h][0])
			if len(text)+len(next) > drawWidth {
				fmt.Fprintln(out, text)
				text = rest + " "
			}
			text += next
		}
		fmt.Fprintln(out, text)
		if len(children[h]) > 0 && depth == drawDepth {
			fmt.Fprintf(out, "%s+ and so on, which --json lists\n", rest)
			return
		}
		var leaves []string
		var branches []int
		for _, c := range children[h] {
			if len(children[c]) == 0 {
				leaves = append(leaves, r.name(c))
			} else {
				branches = append(branches, c)
			}
		}
		if leaves != nil {
			mark := "`- "
			if branches != nil {
				mark = "|- "
			}
			fmt.Fprintf(out, "%s%s%s\n", rest, mark, hostset.Fold(leaves))
		}
		for i, c := range branches {
			if i == len(branches)-1 {
				line(c, rest+"`- ", rest+"   ", depth+1)
			} else {
				line(c, rest+"|- ", rest+"|  ", depth+1)
			}
		}
	}
	line(0, "", "", 0)
}

// dot writes the plan as a graph for graphviz: an arrow for all that one host sends another, with
// the trees in which it does.
func (r *planReport) dot(out io.Writer) error {
	type arrow struct{ from, to int }
	rates, trees := make(map[arrow]float64), make(map[arrow][]string)
	var arrows []arrow
	for i, t := range r.Trees {
		for to, from := range r.parents[i] {
			if from < 0 {
				continue
			}
			a := arrow{from, to}
			if rates[a] == 0 {
				arrows = append(arrows, a)
			}
			rates[a] += t.Rate
			trees[a] = append(trees[a], fmt.Sprint(i+1))
		}
	}
	slices.SortFunc(arrows, func(a, b arrow) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var b strings.Builder
	fmt.Fprintf(&b, "digraph plan {\n  label=%q\n  rankdir=LR\n  node [shape=box]\n", r.Algorithm+" from "+r.Source)
	clusters := make(map[string][]string)
	for _, h := range r.Hosts {
		clusters[h.Cluster] = append(clusters[h.Cluster], h.Name)
	}
	fmt.Fprintf(&b, "  %q [style=bold]\n", r.Source)
	for i, c := range slices.Sorted(maps.Keys(clusters)) {
		if c == "" {
			continue
		}
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q\n", i, c)
		for _, name := range clusters[c] {
			fmt.Fprintf(&b, "    %q\n", name)
		}
		fmt.Fprintln(&b, "  }")
	}
	for _, a := range arrows {
		rate := rates[a]
		label := planRate(&rate)
		if len(r.Trees) > 1 {
			label += ", tree " + limitNames(trees[a])
		}
		fmt.Fprintf(&b, "  %q -> %q [label=%q]\n", r.name(a.from), r.name(a.to), label)
	}
	fmt.Fprintln(&b, "}")
	_, err := io.WriteString(out, b.String())
	return err
}
