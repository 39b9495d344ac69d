package proto

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multihash"
)

const (
	linkID      = "bafyreicyze3szr6mjphimidnfckb6faj2qznca27avfyj764zveynia7ou"
	linkPeerID  = "12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo"
	linkTracker = "/ip4/192.0.2.1/tcp/4000/p2p/" + linkPeerID
	linkPeer    = "/ip6/2001:db8::1/tcp/4001/p2p/" + linkPeerID
	btih        = "urn:btih:d2474e86c95b19b8bcfdb92bc12c9d44667cfa36"
)

// otherCIDs returns content ids of b that are not manifest ids.
func otherCIDs(b []byte) map[string]cid.Cid {
	sum := sha256.Sum256(b)
	hash := must(multihash.Encode(sum[:], multihash.SHA2_256))
	return map[string]cid.Cid{
		"undefined": cid.Undef,
		"version 0": cid.NewCidV0(hash),
		"raw":       cid.NewCidV1(cid.Raw, hash),
		"sha3":      cid.NewCidV1(cid.DagCBOR, must(multihash.Encode(sum[:], multihash.SHA3_256))),
		"short":     cid.NewCidV1(cid.DagCBOR, must(multihash.Encode(sum[:20], multihash.SHA2_256))),
	}
}

func fullLink() *Link {
	return &Link{
		Manifest:     cid.MustParse(linkID),
		Name:         "weights & 'data' ü",
		Length:       240_000_000,
		Trackers:     []multiaddr.Multiaddr{multiaddr.StringCast(linkTracker)},
		Peers:        []multiaddr.Multiaddr{multiaddr.StringCast(linkPeer)},
		InfoHash:     must(parseInfoHash(btih[len(btihPrefix):])),
		Announce:     []string{"http://192.0.2.1:4000/announce?a=1&b=2"},
		TorrentPeers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:6881")},
		Foreign:      []Param{{Key: "so", Value: "0-2,4"}},
	}
}

const fullLinkText = "magnet:?xt=" + btih + "&x%74=urn:mob:" + linkID +
	"&dn=weights%20%26%20%27data%27%20%C3%BC&xl=240000000" +
	"&x.mt=/ip4/192.0.2.1/tcp/4000/p2p/" + linkPeerID +
	"&x.mp=/ip6/2001:db8::1/tcp/4001/p2p/" + linkPeerID +
	"&tr=http://192.0.2.1:4000/announce%3Fa%3D1%26b%3D2&x.pe=192.0.2.1:6881&so=0-2%2C4"

func TestLinkText(t *testing.T) {
	if got := fullLink().String(); got != fullLinkText {
		t.Errorf("got  %s\nwant %s", got, fullLinkText)
	}
	got, err := ParseLink(fullLinkText)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, fullLink()) {
		t.Errorf("got %+v, want %+v", got, fullLink())
	}
}

func TestParseLink(t *testing.T) {
	const head, torrent = "magnet:?xt=urn:mob:" + linkID, "magnet:?xt=" + btih + "&x%74=urn:mob:" + linkID
	for _, tt := range []struct{ name, in, want string }{
		{"only the id", head, head},
		{"spaces around", " " + head + "\n", head},
		{"any order", "magnet:?xl=5&tr=u&dn=n&xt=urn:mob:" + linkID, head + "&dn=n&xl=5&tr=u"},
		{"encoded id", "magnet:?xt=urn%3Amob%3A" + linkID, head},
		{"capitals", "MAGNET:?xt=URN:MOB:" + strings.ToUpper(linkID), head},
		{"same id twice", head + "&xt=urn:mob:" + linkID, head},
		{"same name twice", head + "&dn=a&dn=a", head + "&dn=a"},
		{"plus is a space", head + "&dn=a+b", head + "&dn=a%20b"},
		{"no name", head + "&dn=", head},
		{"length unknown", head + "&xl=0", head},
		{"empty parts", head + "&&a=1&", head + "&a=1"},
		{"copied from HTML", head + "&amp;dn=n&amp;xl=5&a=%26amp;b", head + "&dn=n&xl=5&a=%26amp%3Bb"},
		{"no value", head + "&a", head + "&a="},
		{"no key", head + "&=a", head + "&=a"},
		{"bad escape", head + "&a=100%", head + "&a=100%25"},
		{"unknown twice", head + "&tr=u&tr=u", head + "&tr=u&tr=u"},
		{"unknown in order", head + "&z=1&xt=urn:btmh:1220&a=2", head + "&z=1&xt=urn:btmh:1220&a=2"},
		{"foreign ids first", head + "&xt=" + btih + "&xt=urn:btmh:1220&a=2&xt=b", "magnet:?xt=" + btih + "&xt=urn:btmh:1220" + torrent[len("magnet:?xt="+btih):] + "&a=2&xt=b"},
		{"info-hash last", head + "&dn=n&xt=" + btih, torrent + "&dn=n"},
		{"info-hash in base32", head + "&xt=urn:btih:2jdu5bwjlmm3rph5xev4cle5irthz6rw", torrent},
		{"info-hash in capitals", head + "&xt=URN:BTIH:" + strings.ToUpper(btih[9:]), torrent},
		{"key in plain letters", "magnet:?xt=" + btih + "&xt=urn:mob:" + linkID, torrent},
		{"info-hash twice", head + "&xt=" + btih + "&xt=" + btih, torrent},
		{"torrent trackers", head + "&tr=udp://a:1&tr=https://b/x%3Fy&tr=http%3A%2F%2Fc", head + "&tr=udp://a:1&tr=https://b/x%3Fy&tr=http://c"},
		{"trackers of other kinds", head + "&tr=wss://a:1&tr=http:///x&tr=udp://b:1", head + "&tr=udp://b:1&tr=wss://a:1&tr=http:///x"},
		{"torrent peers", head + "&x.pe=host:1&x.pe=1.2.3.4:0&x.pe=[::1]:5&x.pe=1.2.3.4:6", head + "&x.pe=%5B::1%5D:5&x.pe=1.2.3.4:6&x.pe=host:1&x.pe=1.2.3.4:0"},
		{"stock link", "magnet:?dn=n&xt=" + btih + "&tr=udp://a:1", "magnet:?xt=" + btih + "&dn=n&tr=udp://a:1"},
		{"stock link of both versions", "magnet:?xt=urn:btmh:1220&xt=" + btih, "magnet:?xt=" + btih + "&xt=urn:btmh:1220"},
		{"stock link with members", "magnet:?xt=" + btih + "&x.mp=" + linkPeer, "magnet:?xt=" + btih + "&x.mp=" + linkPeer},
		{"gossip", head + "&x.gossip=rb&x.rlnc=16&x.gossip=rb", head + "&x.rlnc=16&x.gossip=rb"},
		{"coded", head + "&x.rlnc=016&x.rlnc=16", head + "&x.rlnc=16"},
		{"planned", head + "&x.plan=" + linkID + "&x.plan=" + linkID + "&dn=n", head + "&dn=n&x.plan=" + linkID},
		{"old name of p2p", head + "&x.mp=/ip4/1.2.3.4/tcp/1/ipfs/" + linkPeerID, head + "&x.mp=/ip4/1.2.3.4/tcp/1/p2p/" + linkPeerID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := ParseLink(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			again, err := ParseLink(l.String())
			if err != nil || !reflect.DeepEqual(again, l) {
				t.Errorf("again: %+v, %v, want %+v", again, err, l)
			}
		})
	}
}

func TestLinkKeys(t *testing.T) {
	full := fullLink()
	manifest, torrent := full.Manifest, full.InfoHash.CID()
	if got := torrent.String(); got != "baf5rcfgsi5hinsk3dg4lz7nzfpaszhkemz6punq" {
		t.Errorf("the info-hash has the key %s", got)
	}
	for _, tt := range []struct {
		link *Link
		want []cid.Cid
	}{
		{full, []cid.Cid{manifest, torrent}},
		{&Link{Manifest: manifest}, []cid.Cid{manifest}},
		{&Link{InfoHash: full.InfoHash}, []cid.Cid{torrent}},
	} {
		if got := tt.link.Keys(); !slices.Equal(got, tt.want) {
			t.Errorf("%s has the keys %v, want %v", tt.link, got, tt.want)
		}
	}
}

func TestParseLinkErrors(t *testing.T) {
	const head = "magnet:?xt=urn:mob:" + linkID
	other := ManifestCID([]byte("other")).String()
	bad := otherCIDs([]byte("x"))
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "not a magnet URI"},
		{"web page", "https://example.org/?xt=urn:mob:" + linkID, "not a magnet URI"},
		{"bare id", linkID, "not a magnet URI"},
		{"no parameters", "magnet:?", "neither a manifest id"},
		{"link of BitTorrent v2", "magnet:?xt=urn:btmh:1220", "neither a manifest id (xt=urn:mob:…) nor an info-hash"},
		{"no id", "magnet:?xt=urn:mob:", "manifest id"},
		{"cut id", "magnet:?xt=urn:mob:" + linkID[:20], "copy all of the link"},
		{"not an id", "magnet:?xt=urn:mob:hello", "manifest id"},
		{"version 0", "magnet:?xt=urn:mob:" + bad["version 0"].String(), "want CIDv1, dag-cbor, sha2-256"},
		{"raw", "magnet:?xt=urn:mob:" + bad["raw"].String(), "want CIDv1"},
		{"sha3", "magnet:?xt=urn:mob:" + bad["sha3"].String(), "want CIDv1"},
		{"short hash", "magnet:?xt=urn:mob:" + bad["short"].String(), "want CIDv1"},
		{"two ids", head + "&xt=urn:mob:" + other, "two manifest ids"},
		{"two names", head + "&dn=a&dn=b", "two names"},
		{"path as name", head + "&dn=../x", "slash"},
		{"escape in name", head + "&dn=%1b", "control character"},
		{"two lengths", head + "&xl=1&xl=2", "two lengths"},
		{"negative length", head + "&xl=-1", `"-1" is not a number of bytes`},
		{"length as text", head + "&xl=5MB", "not a number of bytes"},
		{"huge length", head + "&xl=9223372036854775808", "not a number of bytes"},
		{"empty strategy", head + "&x.rlnc=16&x.gossip=", "strategy (x.gossip) \"\", want one of permutation, overlap1, overlap2, rb"},
		{"two strategies", head + "&x.rlnc=16&x.gossip=rb&x.gossip=overlap1", "two strategies"},
		{"strategy without generations", head + "&x.gossip=rb", "no size of generations"},
		{"generations of 0", head + "&x.rlnc=0", "want 2 to 255"},
		{"generations of 1", head + "&x.rlnc=1", "want 2 to 255"},
		{"generations of 256", head + "&x.rlnc=256", "want 2 to 255"},
		{"generations of words", head + "&x.rlnc=many", "want 2 to 255"},
		{"two sizes of generations", head + "&x.rlnc=16&x.rlnc=32", "two sizes"},
		{"plan as text", head + "&x.plan=fast", "link: invalid plan \"fast\""},
		{"plan of another form", head + "&x.plan=" + bad["raw"].String(), "link: plan: content id"},
		{"two plans", head + "&x.plan=" + linkID + "&x.plan=" + other, "two plans"},
		{"planned and coded", head + "&x.plan=" + linkID + "&x.rlnc=16", "planned or coded"},
		{"bad tracker", head + "&x.mt=http://a/", "tracker address"},
		{"no tracker", head + "&x.mt=", "tracker address"},
		{"cut tracker", head + "&x.mt=/ip4/1.2.3.4/tcp/1/p2p/12D3KooW", "copy all of the link"},
		{"tracker without id", head + "&x.mt=/ip4/1.2.3.4/tcp/1", "does not end in /p2p/ID"},
		{"peer without id", head + "&x.mp=/ip4/1.2.3.4/tcp/1", "does not end in /p2p/ID"},
		{"id in the middle", head + "&x.mp=/p2p/" + linkPeerID + "/p2p-circuit", "does not end in /p2p/ID"},
		{"bad id", head + "&x.mp=/ip4/1.2.3.4/tcp/1/p2p/me", "peer address"},
		{"many trackers", head + strings.Repeat("&x.mt="+linkTracker, MaxLinkAddrs+1), "more than 64 tracker"},
		{"many peers", head + strings.Repeat("&x.mp="+linkPeer, MaxLinkAddrs+1), "more than 64 peer"},
		{"short info-hash", head + "&xt=urn:btih:d247", "neither 40 hexadecimal digits nor 32"},
		{"bad info-hash", head + "&xt=urn:btih:" + strings.Repeat("x", 40), "neither 40 hexadecimal digits nor 32"},
		{"bad base32", head + "&xt=urn:btih:" + strings.Repeat("1", 32), "neither 40 hexadecimal digits nor 32"},
		{"info-hash of zeros", head + "&xt=urn:btih:" + strings.Repeat("0", 40), "neither 40 hexadecimal digits nor 32"},
		{"two info-hashes", head + "&xt=" + btih + "&xt=urn:btih:" + strings.Repeat("a", 40), "two info-hashes"},
		{"many torrent trackers", head + strings.Repeat("&tr=http://a", MaxLinkAddrs+1), "more than 64 BitTorrent trackers"},
		{"many torrent peers", head + strings.Repeat("&x.pe=1.2.3.4:5", MaxLinkAddrs+1), "more than 64 BitTorrent peers"},
		{"too long", head + "&a=" + strings.Repeat("a", MaxLink), "at most 65536"},
		{"too long encoded", head + "&a=" + strings.Repeat("'", MaxLink/2), "when fully encoded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseLink(tt.in)
			checkError(t, err, tt.want)
		})
	}
}

func TestRandomLinksRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := randomLink(rng)
		got, err := ParseLink(want.String())
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

// randomLink returns a link with random parameters, among them arbitrary foreign ones.
func randomLink(rng *rand.Rand) *Link {
	l := &Link{Manifest: ManifestCID([]byte{byte(rng.Uint32())}), Length: rng.Int64N(3) * rng.Int64()}
	l.Length = max(l.Length, 0)
	if rng.IntN(2) == 0 {
		l.Name = fmt.Sprintf("%c%c&=%%+ '\"", 'a'+rng.IntN(26), 0x100+rng.IntN(0x100))
	}
	for range rng.IntN(3) {
		l.Trackers = append(l.Trackers, multiaddr.StringCast(linkTracker))
	}
	for range rng.IntN(3) {
		l.Peers = append(l.Peers, multiaddr.StringCast(linkPeer))
	}
	if rng.IntN(2) == 0 {
		l.InfoHash = InfoHash{1, 19: byte(rng.Uint32())}
		if rng.IntN(2) == 0 {
			l.Manifest = cid.Undef
		}
	}
	for range rng.IntN(3) {
		l.Announce = append(l.Announce, fmt.Sprintf("http://a:%d/b?c=&d= %%20+", rng.IntN(1000)))
		l.TorrentPeers = append(l.TorrentPeers, netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 15: byte(rng.Uint32())}), 1+uint16(rng.IntN(1000))))
	}
	for i := range rng.IntN(4) {
		value := make([]byte, rng.IntN(20))
		for j := range value {
			value[j] = byte(rng.Uint32())
		}
		l.Foreign = append(l.Foreign, Param{Key: fmt.Sprintf("x.%d", i), Value: string(value)})
	}
	return l
}
