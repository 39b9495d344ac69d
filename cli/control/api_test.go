package control

import (
	"encoding/json"
	"net/netip"
	"testing"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// TestRequestJSON checks the fields that daemons of other versions read.
func TestRequestJSON(t *testing.T) {
	seed := SeedRequest{
		Path: "/x", SkipUnreadable: true, Strategy: "rb", Plan: []byte("p"),
		SeedOptions: peer.SeedOptions{
			PieceLength: 1, Coded: 2, Torrent: true, Announce: []string{"u"}, FollowLinks: true,
			Trackers: []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.7/tcp/1")}, TorrentPeers: []netip.AddrPort{{}}, User: &vfs.User{}, Progress: func(int64, int64) {},
		},
	}
	get := GetRequest{Link: "l", Path: "/x", GetOptions: peer.GetOptions{
		Reuse: true, SpecialBits: true, Torrent: []byte("i"), Manifest: []byte("m"), User: &vfs.User{},
	}}
	for want, req := range map[string]any{
		`{"path":"/x","piece_length":1,"coded":2,"trackers":["/ip4/192.0.2.7/tcp/1"],"torrent":true,"bt_trackers":["u"],"follow_links":true,"skip_unreadable":true,"strategy":"rb","plan":"cA=="}`: seed,
		`{"path":"/x"}`: SeedRequest{Path: "/x"},
		`{"link":"l","path":"/x","reuse":true,"torrent":"aQ==","special_bits":true}`: get,
	} {
		if b, err := json.Marshal(req); string(b) != want || err != nil {
			t.Errorf("%s, %v, want %s", b, err, want)
		}
	}
	var other GetRequest
	if err := json.Unmarshal([]byte(`{"User":{},"Manifest":"bQ=="}`), &other); err != nil || other.User != nil || other.Manifest != nil {
		t.Errorf("%+v, %v", other, err)
	}
}
