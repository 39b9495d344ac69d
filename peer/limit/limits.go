package limit

import "strings"

// Limits are the limits of a node or of one transfer. Zero means no limit.
type Limits struct {
	// WANDown limits received bytes, WANUp and LANUp sent bytes: the content, and its headers
	// within TCP.
	WANDown Rate `json:"wan_down"`
	WANUp   Rate `json:"wan_up"`
	LANUp   Rate `json:"lan_up"`
	// ClusterWANDown limits the bytes that all members of a site together receive over the
	// WAN. It is zero for a transfer.
	ClusterWANDown Rate `json:"cluster_wan_down"`
}

// String lists the limits that are set.
func (l Limits) String() string {
	var set []string
	for i, r := range l.rates() {
		if *r != 0 {
			set = append(set, Names[i]+" "+r.String())
		}
	}
	if len(set) == 0 {
		return "no limits"
	}
	return strings.Join(set, ", ")
}

// Buckets are the token buckets of a node, or of one transfer.
type Buckets struct{ WANDown, WANUp, LANUp Bucket }

// Set changes the limits, except the cluster's.
func (b *Buckets) Set(l Limits) {
	b.WANDown.SetRate(l.WANDown)
	b.WANUp.SetRate(l.WANUp)
	b.LANUp.SetRate(l.LANUp)
}

// Limits returns the limits, without the cluster's.
func (b *Buckets) Limits() Limits {
	return Limits{WANDown: b.WANDown.Rate(), WANUp: b.WANUp.Rate(), LANUp: b.LANUp.Rate()}
}
