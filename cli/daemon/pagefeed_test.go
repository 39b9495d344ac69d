package daemon

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/feed"
)

// TestPageFeeds checks that the page has versions, lag and saved bytes of feeds and followers, and no link or
// id of a feed.
func TestPageFeeds(t *testing.T) {
	t.Parallel()
	const id = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"
	published := feed.Info{Name: "weights", Status: feed.Status{Newest: 7, Complete: 7}}
	published.Link = "magnet:?xt=urn:mob-feed:" + id + "&dn=weights"
	published.Followers = []feed.Report{{Node: libpeer.ID("b"), Cluster: "B", Seq: 7, Saved: 5}, {Node: libpeer.ID("c"), Cluster: "C"}}
	followed := feed.Info{Name: id, Status: feed.Status{Newest: 3, Complete: 2, Saved: 9, Error: "failed"}}
	followed.Link, followed.Dir = "magnet:?xt=urn:mob-feed:"+id, "/versions"
	got := pageFeeds([]feed.Info{published, followed})
	b, c := libpeer.ID("b").String(), libpeer.ID("c").String()
	want := fmt.Sprintf("[{weights false 7 7 0  [{%s C 0 0} {%s B 7 5}] } {…4kx6nXTN true 3 2 9 failed [] /versions}]", c, b)
	if fmt.Sprint(got) != want {
		t.Errorf("feeds %v, want %s", got, want)
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), id) || strings.Contains(string(text), "magnet") {
		t.Errorf("%s, %v", text, err)
	}
	published.Followers = make([]feed.Report, 1000)
	if all := pageFeeds(append(make([]feed.Info, 100), published)); len(all) != maxPageFeeds {
		t.Errorf("%d feeds", len(all))
	}
	if f := pageFeeds([]feed.Info{published})[0]; len(f.Followers) != maxPageFollowers {
		t.Errorf("%d followers", len(f.Followers))
	}
}
