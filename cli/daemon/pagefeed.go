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
