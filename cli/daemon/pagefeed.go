package daemon

import (
	"cmp"
	"slices"

	"github.com/mobgrid/mob/feed"
)

// The page shows at most that number of feeds, and of followers of each, those with the oldest versions first.
const (
	maxPageFeeds     = 64
	maxPageFollowers = 64
)

// pageFeed is a feed on the page of a node. It has no link and no id: a client needs one of them to follow.
type pageFeed struct {
	Name      string         `json:"name"`
	Follows   bool           `json:"follows"` // else the node publishes it
	Newest    uint64         `json:"newest"`
	Complete  uint64         `json:"complete"`
	Saved     int64          `json:"saved"`
	Error     string         `json:"error,omitempty"`
	Followers []pageFollower `json:"followers,omitempty"`
	Root      string         `json:"root,omitempty"` // of the versions; for hideDirectories
}

// pageFollower is a follower of a feed that the node publishes. Complete is 0 if it has not reported.
type pageFollower struct {
	ID       string `json:"id"`
	Cluster  string `json:"cluster"`
	Complete uint64 `json:"complete"`
	Saved    int64  `json:"saved"`
}

// pageFeeds returns what the page shows of feeds.
func pageFeeds(all []feed.Info) (out []pageFeed) {
	for _, f := range all[:min(len(all), maxPageFeeds)] {
		p := pageFeed{Name: f.Name, Follows: f.Dir != "", Newest: f.Newest, Complete: f.Complete, Saved: f.Saved, Error: f.Error, Root: f.Dir}
		if l, err := feed.ParseLink(f.Link); err == nil && l.Name == "" {
			p.Name = "…" + l.ID()[len(l.ID())-8:]
		}
		for _, r := range f.Followers {
			p.Followers = append(p.Followers, pageFollower{r.Node.String(), r.Cluster, r.Seq, r.Saved})
		}
		slices.SortStableFunc(p.Followers, func(a, b pageFollower) int { return cmp.Compare(a.Complete, b.Complete) })
		p.Followers = p.Followers[:min(len(p.Followers), maxPageFollowers)]
		out = append(out, p)
	}
	return out
}
