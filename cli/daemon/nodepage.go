package daemon

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/metrics"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
)

// The page of a node shows as many of each, those that matter most.
const (
	maxPageTransfers = 256
	maxPagePeers     = 256
	maxPageClusters  = 64
	maxPageFeeds     = 64
	maxPageFollowers = 64 // of a feed
)

// nodePage is an event of the page of a node. Its statuses have only the fields that the page shows, and no
// links and addresses: a client that may read the page may not have the content. Clients without the token get
// short names instead of content ids, and no directories.
type nodePage struct {
	ID        string            `json:"id"`
	Cluster   string            `json:"cluster"`
	Version   string            `json:"version"`
	Rate      peer.Traffic      `json:"rate"` // of all transfers
	Transfers []peer.Status     `json:"transfers"`
	More      int               `json:"more,omitempty"` // transfers that are not among them
	Clusters  []pageCluster     `json:"clusters"`
	Peers     []peer.PeerStatus `json:"peers,omitempty"` // of the transfer that the client asks for
	Limits    control.Limits    `json:"limits"`
	Feeds     []pageFeed        `json:"feeds,omitempty"`
}

// pageCluster is the peers of one cluster, of all transfers.
type pageCluster struct {
	Name    string `json:"name"`
	Local   bool   `json:"local"`
	Peers   int    `json:"peers"`
	Stalled int    `json:"stalled,omitempty"`
	Rate    int64  `json:"rate"` // bytes received per second
}

// register adds the page of a node to the server of --http.
func (d *Daemon) register(s *web.Server) {
	s.HandleOwner("/v1/", d.server.Handler())
	s.HandleStream("GET /events", func(detail string) any {
		p := newNodePage(d.node, detail)
		p.Limits, p.Feeds = d.server.Limits(), pageFeeds(d.feeds.All())
		return p
	}, func(event string) string { return d.node.Names().Replace(hideDirectories(event)) })
	s.HandlePage("node.html")
	d.health.Register(s, metrics.NewNode(d.node.Stats, d.node.Cluster(), command.Version()))
}

// newNodePage returns what the page shows now, with the peers of the transfer whose id or short name is detail.
func newNodePage(n *peer.Node, detail string) *nodePage {
	p := summarize(peer.Look(n.Transfers()...), detail)
	p.ID, p.Cluster, p.Version = n.Host().ID().String(), n.Cluster(), command.Version()
	return p
}

// summarize returns a page of transfers, failed and running ones first.
func summarize(list []peer.Status, detail string) *nodePage {
	p := &nodePage{Transfers: []peer.Status{}}
	slices.SortStableFunc(list, func(a, b peer.Status) int {
		return cmp.Or(cmp.Compare(urgency(a.Phase), urgency(b.Phase)), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	for _, st := range list {
		p.Rate.Add(&st.Rate)
		if st.ID == detail || st.Short == detail {
			p.Peers = pagePeers(&st)
		}
		if len(p.Transfers) == maxPageTransfers {
			p.More++
			continue
		}
		p.Transfers = append(p.Transfers, peer.Status{
			ID: st.ID, Name: st.Name, Root: st.Root, Seed: st.Seed, Phase: st.Phase, Error: st.Error,
			Length: st.Length, Pieces: st.Pieces, Elapsed: st.Elapsed.Round(time.Second),
			Away: st.Away, MoreDifferent: len(st.Different) + st.MoreDifferent, // without their paths
			SwarmStatus: peer.SwarmStatus{
				Have: st.Have, PiecesHave: st.PiecesHave, Traffic: st.Traffic, Rate: st.Rate, Levels: st.Levels,
				Damaged: st.Damaged, Connected: st.Connected, Waiting: st.Waiting, Isolation: st.Isolation,
			},
		})
	}
	p.Clusters = pageClusters(list)
	return p
}

// urgency orders phases for the page: failed transfers, then running ones.
func urgency(p peer.Phase) int {
	switch p {
	case peer.Failed:
		return 0
	case peer.Seeking, peer.Checking, peer.Fetching:
		return 1
	case peer.Whole:
		return 2
	}
	return 3
}

// pageClusters counts the peers of all transfers by their clusters, a peer once.
func pageClusters(list []peer.Status) []pageCluster {
	clusters := map[string]*pageCluster{}
	seen := map[string]bool{}
	for i := range list {
		for _, q := range list[i].Peers {
			c := clusters[q.Cluster]
			if c == nil {
				c = &pageCluster{Name: q.Cluster, Local: q.Local}
				clusters[q.Cluster] = c
			}
			c.Rate += q.Rate
			if seen[q.ID] {
				continue
			}
			seen[q.ID] = true
			c.Peers++
			if q.Stalled {
				c.Stalled++
			}
		}
	}
	out := []pageCluster{}
	for _, c := range clusters {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b pageCluster) int {
		return cmp.Or(-cmp.Compare(a.Peers, b.Peers), strings.Compare(a.Name, b.Name))
	})
	out = out[:min(len(out), maxPageClusters)]
	slices.SortFunc(out, func(a, b pageCluster) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// pagePeers returns the peers of a transfer, by cluster and id.
func pagePeers(st *peer.Status) []peer.PeerStatus {
	peers := slices.SortedFunc(slices.Values(st.Peers), func(a, b peer.PeerStatus) int {
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), strings.Compare(a.ID, b.ID))
	})
	return peers[:min(len(peers), maxPagePeers)]
}

// pageFeed is a feed on the page of a node. It has no link and no id: a client needs one of them to follow.
type pageFeed struct {
	Name      string        `json:"name"`
	Follows   bool          `json:"follows"` // else the node publishes it
	Newest    uint64        `json:"newest"`
	Complete  uint64        `json:"complete"`
	Saved     int64         `json:"saved"`
	Error     string        `json:"error,omitempty"`
	Followers []feed.Report `json:"followers,omitempty"`
	Root      string        `json:"root,omitempty"` // of the versions; for hideDirectories
}

// pageFeeds returns what the page shows of feeds.
func pageFeeds(all []feed.Info) (out []pageFeed) {
	for _, f := range all[:min(len(all), maxPageFeeds)] {
		p := pageFeed{Name: f.Name, Follows: f.Dir != "", Newest: f.Newest, Complete: f.Complete, Saved: f.Saved, Error: f.Error, Root: f.Dir}
		if l, err := feed.ParseLink(f.Link); err == nil && l.Name == "" {
			p.Name = "…" + l.ID()[len(l.ID())-8:]
		}
		p.Followers = slices.SortedStableFunc(slices.Values(f.Followers), func(a, b feed.Report) int { return cmp.Compare(a.Seq, b.Seq) })
		p.Followers = p.Followers[:min(len(p.Followers), maxPageFollowers)]
		out = append(out, p)
	}
	return out
}

// rootField matches the path of a transfer or a feed in an event, and the directory of the path.
var rootField = regexp.MustCompile(`"root":"((?:[^"\\]|\\.)+)/[^"/]*"`)

// hideDirectories replaces the directories of the transfers and feeds in an event of the page, also in errors.
func hideDirectories(event string) string {
	var dirs []string
	for _, field := range rootField.FindAllStringSubmatch(event, -1) {
		dirs = append(dirs, field[1])
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	var pairs []string
	for _, dir := range slices.Compact(dirs) {
		pairs = append(pairs, dir, "…")
	}
	return strings.NewReplacer(pairs...).Replace(event)
}
