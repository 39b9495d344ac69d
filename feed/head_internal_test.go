package feed

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/proto"
)

// sealed returns the signed head of a version.
func sealed(t testing.TB, key crypto.PrivKey, seq uint64, note string) []byte {
	t.Helper()
	h := &Head{Seq: seq, Time: time.Unix(1, 2), Link: linkOf(t), Inline: []byte("x"), Note: note, node: "\xff\x00"}
	if err := h.seal(key); err != nil {
		t.Fatal(err)
	}
	return h.signed
}

func linkOf(t testing.TB) *proto.Link {
	t.Helper()
	link, err := proto.ParseLink("magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567")
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func newKey(t testing.TB) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestHead seals and opens heads, and rejects what is not one.
func TestHead(t *testing.T) {
	key := newKey(t)
	b := sealed(t, key, 7, "note")
	h, err := openHead(b, key.GetPublic())
	if err != nil || h.Seq != 7 || h.Note != "note" || !h.Time.Equal(time.Unix(1, 2)) || !bytes.Equal(h.Inline, []byte("x")) || h.node != "\xff\x00" {
		t.Fatalf("%+v, %v", h, err)
	}
	if _, err := openHead(b, newKey(t).GetPublic()); err == nil {
		t.Error("the head of another key was accepted")
	}
	for i := range b {
		changed := bytes.Clone(b)
		changed[i]++
		if _, err := openHead(changed, key.GetPublic()); err == nil {
			t.Errorf("a head with another byte %d was accepted", i)
		}
	}
	for what, h := range map[string]*Head{
		"no version":   {Link: h.Link},
		"version 2^63": {Seq: 1 << 63, Link: h.Link},
		"a long note":  {Seq: 1, Link: h.Link, Note: strings.Repeat("x", maxNote+1)},
		"its own base": {Seq: 1, Link: h.Link, Base: 1, Delta: h.Link},
		"long content": {Seq: 1, Link: h.Link, Inline: make([]byte, maxInline+1)},
	} {
		if err := h.seal(key); err == nil {
			t.Errorf("a head with %s was signed", what)
		}
	}
}

// TestLink parses links of feeds.
func TestLink(t *testing.T) {
	l := &Link{Key: newKey(t).GetPublic(), Name: "a name & more"}
	again, err := ParseLink(l.String() + "&amp;x.mt=/ip4/192.0.2.7/tcp/4000&unknown=1")
	if err != nil || again.Name != l.Name || !again.Key.Equals(l.Key) || len(again.Trackers) != 1 {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, s := range []string{"", "magnet:?xt=urn:mob:x", "magnet:?xt=urn:mob-feed:", "magnet:?xt=urn:mob-feed:x", l.String() + "&x.mt=nowhere"} {
		if _, err := ParseLink(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}
