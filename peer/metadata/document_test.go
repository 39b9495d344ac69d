package metadata

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// A document of several chunks arrives whole. One beyond the limit is rejected by its
// length.
func TestRequestDocument(t *testing.T) {
	doc := bytes.Repeat([]byte("0123456789"), chunkSize/4)
	id := proto.ManifestCID(doc)
	m := newMember(t, proto.ManifestProtocol, map[cid.Cid][]byte{id: doc})
	h := newHost(t)
	if err := h.Connect(t.Context(), peer.AddrInfo{ID: m.ID(), Addrs: m.Addrs()}); err != nil {
		t.Fatal(err)
	}
	request := func(limit int) ([]byte, error) {
		t.Helper()
		s, err := h.NewStream(t.Context(), m.ID(), proto.ManifestProtocol)
		if err != nil {
			t.Fatal(err)
		}
		return requestDocument(t.Context(), s, id, limit, new(progress))
	}
	if got, err := request(len(doc)); !bytes.Equal(got, doc) {
		t.Errorf("received %d bytes, %v", len(got), err)
	}
	if got, err := request(len(doc) - 1); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("received %d bytes beyond the limit, %v", len(got), err)
	}
}
