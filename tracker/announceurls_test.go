package tracker

import (
	"errors"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// TestAnnounceURLs asks three trackers where they serve BitTorrent clients: one that does, one that
// does not, and one of a version that does not know the question.
func TestAnnounceURLs(t *testing.T) {
	t.Parallel()
	const url = "http://192.0.2.7:6969/announce"
	server, serves := start(t, Default(nil), nil)
	server.SetAnnounceURLs([]string{url})
	_, other := start(t, Default(nil), nil)
	h := loopHost(t)
	h.SetStreamHandler(proto.TrackerProtocol, func(st network.Stream) {
		_, _ = proto.ReadOpening(st)
		_ = proto.WriteMessage(st, goodbye(errors.New("message type 33 is unknown")))
		st.Close()
	})
	old := peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}
	_, client := node(t, ClientConfig{}, serves, other, old)
	urls, err := client.AnnounceURLs(t.Context())
	if err != nil || !slices.Equal(urls, []string{url}) {
		t.Errorf("%q, %v", urls, err)
	}
	_, client = node(t, ClientConfig{}, old)
	if urls, err := client.AnnounceURLs(t.Context()); err == nil {
		t.Errorf("%q of an old tracker", urls)
	}
}
