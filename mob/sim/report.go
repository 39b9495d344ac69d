package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Report is what a run came to.
type Report struct {
	// Time is when the last node was whole; Ideal the least possible.
	Time, Ideal time.Duration
	// Finished are the times of the nodes, 0 for the source and for those that
	// are not whole; Missing counts these without the source, the killed and the
	// liars.
	Finished []time.Duration
	Missing  int
	// Copies are the contents that entered each cluster over the WAN.
	Copies []ClusterCopies
	Links  []LinkReport
	// Idle is what became of the links into each cluster but the first, with Config.Idle.
	Idle []Idleness
	// Control is the share of control bytes on the WAN, LanControl on the LAN.
	// ControlPerPayload is all of them by the bytes delivered to all nodes: the
	// content for each that is whole.
	Control, LanControl, ControlPerPayload float64
	// Duplicate and DuplicateWAN are bytes that arrived a second time, Doubled
	// bytes asked for while somebody else owed them, Again bytes asked for that
	// were there.
	Duplicate, DuplicateWAN, Doubled, Again int64
	Rejects, Failed, Useless                int
	// Messages counts the control messages by type.
	Messages map[proto.Type]*Count
	// Steps counts the calls of mob.State.Step; Trace is a hash of every message.
	Steps int
	Trace uint64
}

// ClusterCopies is what entered a cluster, in contents.
type ClusterCopies struct {
	Cluster string
	Copies  float64
}

// LinkReport is one direction between two clusters.
type LinkReport struct {
	Link
	Bytes int64
	// Idle is the share of the time in which nothing was sent.
	Idle float64
}

// Share is the share of the bound that was reached, 0 when nodes are missing.
func (r *Report) Share() float64 {
	if r.Missing > 0 || r.Time == 0 {
		return 0
	}
	return r.Ideal.Seconds() / r.Time.Seconds()
}

func (s *sim) report() *Report {
	r := &Report{
		Ideal: s.cfg.Ideal(), Duplicate: s.audit.copies, DuplicateWAN: s.audit.copiesWAN, Doubled: s.audit.doubled, Again: s.audit.again,
		Rejects: s.audit.rejects, Failed: s.audit.failed, Useless: s.audit.useless, Steps: s.steps, Trace: s.trace.Sum64(), Messages: s.audit.messages,
	}
	if v := s.audit.survey; v != nil {
		r.Idle = v.idle[1:]
	}
	whole := 0
	for _, n := range s.nodes {
		if n.finished > 0 {
			whole++
		}
		r.Finished = append(r.Finished, n.finished)
		r.Time = max(r.Time, n.finished)
		if n.index > 0 && n.finished == 0 && !n.liar && !s.dies(n) {
			r.Missing++
		}
	}
	wan, control := int64(0), int64(0)
	for j, to := range s.cfg.Clusters {
		in := int64(0)
		for i, from := range s.cfg.Clusters {
			l := s.links[i][j]
			in += l.bytes
			control += l.control
			if i != j && len(l.rate) > 0 {
				r.Links = append(r.Links, LinkReport{Link{from.Name, to.Name}, l.bytes, max(0, 1-l.busy.Seconds()/s.now.Seconds())})
			}
		}
		wan += in
		r.Copies = append(r.Copies, ClusterCopies{to.Name, float64(in) / float64(s.cfg.Length)})
	}
	r.Control = float64(control) / max(float64(wan), 1)
	r.ControlPerPayload = float64(control+s.lanControl) / float64(s.cfg.Length*int64(max(whole, 1)))
	r.LanControl = float64(s.lanControl) / max(float64(s.lanControl+s.lanBytes), 1)
	return r
}

// String is the report for people, in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "time %.2f s, ideal %.2f s, share %.3f", r.Time.Seconds(), r.Ideal.Seconds(), r.Share())
	if r.Missing > 0 {
		fmt.Fprintf(&b, ", %d NODES MISSING", r.Missing)
	}
	b.WriteString("\ncopies")
	for _, c := range r.Copies {
		fmt.Fprintf(&b, " %s %.3f", c.Cluster, c.Copies)
	}
	fmt.Fprintf(&b, "\ncontrol WAN %.4f LAN %.4f, duplicate %d (WAN %d), doubled %d, again %d, rejects %d, failed %d, useless %d\n",
		r.Control, r.LanControl, r.Duplicate, r.DuplicateWAN, r.Doubled, r.Again, r.Rejects, r.Failed, r.Useless)
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
