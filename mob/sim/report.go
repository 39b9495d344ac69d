package sim

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// Report is the outcome of a run.
type Report struct {
	// Time is the time when the last node was complete, Ideal the least possible.
	Time, Ideal time.Duration
	// Finished has for each node when it was complete, 0 for the source and for nodes
	// that are not. Missing counts the latter without those that cannot be: killed nodes,
	// corrupters, and nodes that fetch nothing or whose disk hangs.
	Finished []time.Duration
	Missing  int
	// Copies is the number of times that the content entered each site over the WAN, RackCopies each rack
	// over its uplink.
	Copies, RackCopies []ClusterCopies
	// Links are the links between sites, Uplinks the uplinks of racks, in both directions.
	Links, Uplinks []LinkReport
	// Control is the share of control bytes on the WAN. ControlPerPayload is the ratio of all control
	// bytes to the payload delivered: the content for each node that is complete.
	Control, ControlPerPayload float64
	// Duplicate is bytes that arrived a second time, Doubled bytes requested while another request for
	// them was outstanding, Again bytes requested that were stored. Useless counts coded blocks that
	// were not innovative.
	Duplicate, Doubled, Again int64
	Rejects, Failed, Useless  int
	// Messages counts the control messages by type.
	Messages map[proto.Type]Count
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

// report completes the result.
func (s *sim) report() *Report {
	r := s.result
	r.Ideal, r.Trace = s.cfg.Ideal(), s.trace.Sum64()
	for _, n := range s.nodes {
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
	r.ControlPerPayload = float64(control+s.lanControl) / float64(s.cfg.Length*int64(max(s.complete, 1)))
	return &r
}

func (s *sim) linkReport(l *link, from, to string) LinkReport {
	return LinkReport{Link{from, to}, l.bytes, max(0, 1-l.busy.Seconds()/s.now.Seconds())}
}
