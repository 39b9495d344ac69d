package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Report is the outcome of a run.
type Report struct {
	// Time is the time when the last node was complete, Ideal the least possible.
	Time, Ideal time.Duration
	// Finished has for each node when it was complete, 0 for the source and for nodes
	// that are not. Missing counts the latter without those that cannot be: killed nodes,
	// liars, and nodes that fetch nothing or whose disk hangs.
	Finished []time.Duration
	Missing  int
	// Copies is the number of times that the content entered each site over the WAN, RackCopies each rack
	// over its uplink.
	Copies, RackCopies []ClusterCopies
	// Links are the links between sites, Uplinks the uplinks of racks, in both directions.
	Links, Uplinks []LinkReport
	// Control is the share of control bytes on the WAN, LanControl on the LAN.
	// ControlPerPayload is their ratio to the payload delivered: the content for each
	// node that is complete.
	Control, LanControl, ControlPerPayload float64
	// Duplicate and DuplicateWAN are bytes that arrived a second time, Doubled bytes
	// requested while another peer owed them, Again bytes requested that were stored.
	// Useless counts coded blocks that told the receiver nothing new.
	Duplicate, DuplicateWAN, Doubled, Again int64
	Rejects, Failed, Useless                int
	// Messages counts the control messages by type.
	Messages map[proto.Type]*Count
	// Steps counts the calls of Strategy.Step. Trace is a hash of every message.
	Steps int
	Trace uint64
}

// ClusterCopies is the bytes that entered a site or a rack, by the length of the content.
type ClusterCopies struct {
	Cluster string
	Copies  float64
}

// LinkReport is one direction between two sites, or between a rack and its site.
type LinkReport struct {
	Link
	Bytes int64
	// Idle is the share of the time during which nothing was sent.
	Idle float64
}

// Share is the share of the bound that was reached, 0 if nodes are missing.
func (r *Report) Share() float64 {
	if r.Missing > 0 || r.Time == 0 {
		return 0
	}
	return r.Ideal.Seconds() / r.Time.Seconds()
}

func (s *sim) report() *Report {
	a := &s.audit
	r := &Report{
		Ideal:        s.cfg.Ideal(),
		Duplicate:    a.duplicate,
		DuplicateWAN: a.duplicateWAN,
		Doubled:      a.doubled,
		Again:        a.again,
		Rejects:      a.rejects,
		Failed:       a.failed,
		Useless:      a.useless,
		Steps:        s.steps,
		Trace:        s.trace.Sum64(),
		Messages:     a.messages,
	}
	complete := 0
	for _, n := range s.nodes {
		if n.finished > 0 {
			complete++
		}
		r.Finished = append(r.Finished, n.finished)
		r.Time = max(r.Time, n.finished)
		if n.index > 0 && n.finished == 0 && !n.exempt {
			r.Missing++
		}
	}
	wan, control := int64(0), int64(0)
	for j, to := range s.sites {
		in := int64(0)
		for i, from := range s.sites {
			l := s.links[i][j]
			in += l.bytes
			control += l.control
			if i != j && len(l.rate) > 0 {
				r.Links = append(r.Links, s.linkReport(l, from, to))
			}
		}
		wan += in
		r.Copies = append(r.Copies, ClusterCopies{to, float64(in) / float64(s.cfg.Length)})
	}
	for i, l := range s.down {
		if l == nil {
			continue
		}
		site, rack := s.sites[s.siteOf[i]], s.cfg.Clusters[i].Name
		r.RackCopies = append(r.RackCopies, ClusterCopies{rack, float64(l.bytes) / float64(s.cfg.Length)})
		if len(l.rate) > 0 {
			r.Uplinks = append(r.Uplinks, s.linkReport(l, site, rack), s.linkReport(s.up[i], rack, site))
		}
	}
	r.Control = float64(control) / max(float64(wan), 1)
	r.ControlPerPayload = float64(control+s.lanControl) / float64(s.cfg.Length*int64(max(complete, 1)))
	r.LanControl = float64(s.lanControl) / max(float64(s.lanControl+s.lanBytes), 1)
	return r
}

func (s *sim) linkReport(l *link, from, to string) LinkReport {
	return LinkReport{Link{from, to}, l.bytes, max(0, 1-l.busy.Seconds()/s.now.Seconds())}
}

// String formats the report in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "time %.2f s, ideal %.2f s, share %.3f", r.Time.Seconds(), r.Ideal.Seconds(), r.Share())
	if r.Missing > 0 {
		fmt.Fprintf(&b, ", %d NODES MISSING", r.Missing)
	}
	b.WriteString("\ncopies")
	for _, c := range append(slices.Clone(r.Copies), r.RackCopies...) {
		fmt.Fprintf(&b, " %s %.3f", c.Cluster, c.Copies)
	}
	fmt.Fprintf(&b, "\ncontrol WAN %.4f LAN %.4f, duplicate %d (WAN %d), ", r.Control, r.LanControl, r.Duplicate, r.DuplicateWAN)
	fmt.Fprintf(&b, "doubled %d, again %d, rejects %d, failed %d, useless %d\n", r.Doubled, r.Again, r.Rejects, r.Failed, r.Useless)
	b.WriteString("idle")
	for _, l := range r.Links {
		fmt.Fprintf(&b, " %s%s %.3f", l.From, l.To, l.Idle)
	}
	b.WriteString("\nmessages")
	types := make([]proto.Type, 0, len(r.Messages))
	for t := range r.Messages {
		types = append(types, t)
	}
	slices.Sort(types)
	for _, t := range types {
		fmt.Fprintf(&b, " %d: %d/%d", t, r.Messages[t].Messages, r.Messages[t].Bytes)
	}
	finished := slices.DeleteFunc(slices.Clone(r.Finished), func(d time.Duration) bool { return d == 0 })
	slices.Sort(finished)
	if len(finished) > 0 {
		fmt.Fprintf(&b, "\nfinished from %.2f s, median %.2f s", finished[0].Seconds(), finished[len(finished)/2].Seconds())
	}
	return b.String()
}
