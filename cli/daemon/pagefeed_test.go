package daemon

import (
	"encoding/json"
	"fmt"
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
	text, err := json.Marshal(got)
	want := fmt.Sprintf(`[{"name":"weights","follows":false,"newest":7,"complete":7,"saved":0,"followers":[`+
		`{"id":%q,"cluster":"C","complete":0,"saved":0},{"id":%q,"cluster":"B","complete":7,"saved":5}]},`+
		`{"name":"…4kx6nXTN","follows":true,"newest":3,"complete":2,"saved":9,"error":"failed","root":"/versions"}]`, libpeer.ID("c"), libpeer.ID("b"))
	if err != nil || string(text) != want {
		t.Errorf("feeds %s, want %s; %v", text, want, err)
	}
	published.Followers = make([]feed.Report, 1000)
	if all := pageFeeds(append(make([]feed.Info, 100), published)); len(all) != maxPageFeeds {
		t.Errorf("%d feeds", len(all))
	}
	if f := pageFeeds([]feed.Info{published})[0]; len(f.Followers) != maxPageFollowers {
		t.Errorf("%d followers", len(f.Followers))
	}
}
