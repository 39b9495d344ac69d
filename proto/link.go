package proto

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multiaddr"
)

// linkPrefix and urnPrefix begin a link and the id in it.
const (
	linkPrefix = "magnet:?"
	urnPrefix  = "urn:mob:"
)

// The keys of a link's parameters. Those that begin with "x." are for
// experiments by BEP 9, and other clients skip them.
const (
	keyTopic   = "xt"
	keyName    = "dn"
	keyLength  = "xl"
	keyTracker = "x.mt"
	keyPeer    = "x.mp"
	keyCoded   = "x.rlnc"
	keyHow     = "x.gossip"
	// Those of BitTorrent's magnet URIs (BEP 9).
	keyAnnounce    = "tr"
	keyTorrentPeer = "x.pe"
	// escapedTopic is keyTopic to whoever decodes what is percent-encoded, as readers
	// of URIs do. rTorrent does not, and takes no link with an xt that is not of
	// BitTorrent.
	escapedTopic = "x%74"
)

// Link names a content and says where to ask for it: a magnet URI. It has a
// manifest id, an info-hash, or both; all else is a hint, not checked against
// anything. To BitTorrent clients a link with an info-hash is a magnet URI of theirs,
// and so theirs are links.
type Link struct {
	// Manifest is the content id of the manifest (xt=urn:mob:...), undefined when
	// the content is known by its torrent alone.
	Manifest cid.Cid
	// Name is the name of the content (dn), one path element; empty when unknown.
	Name string
	// Length is the size of the content in bytes (xl); 0 when unknown.
	Length int64
	// Trackers are multiaddrs of trackers (x.mt), each with its /p2p/ID at the
	// end; at most [MaxLinkAddrs].
	Trackers []multiaddr.Multiaddr
	// Peers are multiaddrs of members (x.mp), with the same form and limit.
	Peers []multiaddr.Multiaddr
	// Coded is how many source blocks a generation of the coded transfer has
	// (x.rlnc); 0 for one in plain pieces.
	Coded int
	// Strategy is how the blocks of a coded transfer go round (x.gossip).
	Strategy Strategy
	// InfoHash is the content's name among BitTorrent clients (xt=urn:btih:...),
	// zero when they do not know it.
	InfoHash InfoHash
	// Announce are addresses of BitTorrent trackers (tr), URLs of http, https or
	// udp; at most [MaxLinkAddrs].
	Announce []string
	// TorrentPeers are BitTorrent clients that have the content (x.pe); at most
	// [MaxLinkAddrs].
	TorrentPeers []netip.AddrPort
	// Foreign are the parameters that mean nothing here, in the order of the
	// link; an xt of another scheme is one, and a tr that is no such URL. It must
	// hold none of the above.
	Foreign []Param
}

// Param is one parameter of a [Link], not percent-encoded.
type Param struct{ Key, Value string }

// ParseLink reads a link of at most [MaxLink] bytes. Parameters that it does not
// know are kept. An address it cannot read is an error, as are a link without an
// id and one that says two different things of the same.
func ParseLink(s string) (*Link, error) {
	if len(s) > MaxLink {
		return nil, fmt.Errorf("link of %d bytes, at most %d", len(s), MaxLink)
	}
	s = strings.TrimSpace(s)
	if !hasPrefixFold(s, linkPrefix) {
		return nil, errors.New("not a magnet URI: a link begins with magnet:?xt=urn:mob:<id> or magnet:?xt=urn:btih:<info-hash>")
	}
	l := new(Link)
	for part := range strings.SplitSeq(s[len(linkPrefix):], "&") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		if err := l.add(unescape(key), unescape(value)); err != nil {
			return nil, err
		}
	}
	if !l.Manifest.Defined() && l.InfoHash.IsZero() {
		return nil, errors.New("link names no content: it has no manifest id (xt=urn:mob:…) and no info-hash (xt=urn:btih:…)")
	}
	if l.Strategy.Gossip() && l.Coded == 0 {
		return nil, errors.New("link has permutation gossip (x.gossip), and no generations (x.rlnc)")
	}
	// Written out it may be longer than it came, and must be readable again.
	if n := len(l.String()); n > MaxLink {
		return nil, fmt.Errorf("link of %d bytes when fully encoded, at most %d", n, MaxLink)
	}
	return l, nil
}

// Keys are the names of the content's swarm that the link knows: the manifest's id, and
// that of the info-hash. Nodes with a key in common are in one swarm.
func (l *Link) Keys() (keys []cid.Cid) {
	if l.Manifest.Defined() {
		keys = append(keys, l.Manifest)
	}
	if !l.InfoHash.IsZero() {
		keys = append(keys, l.InfoHash.CID())
	}
	return keys
}

// String is the link as text: the id, then what is known, then Foreign. But the
// info-hash comes before the id, and so does an xt with which Foreign begins,
// because there are BitTorrent clients that look at one xt only. Beside an
// info-hash the id has the key xt in an encoded form. [ParseLink] of the text gives l
// again.
func (l *Link) String() string {
	var b strings.Builder
	b.WriteString("magnet:")
	separator := byte('?')
	write := func(key, value string) {
		b.WriteByte(separator)
		b.WriteString(key + "=" + escape(value))
		separator = '&'
	}
	add := func(key, value string) { write(escape(key), value) }
	if !l.InfoHash.IsZero() {
		add(keyTopic, btihPrefix+l.InfoHash.String())
	}
	foreign := l.Foreign
	for len(foreign) > 0 && foreign[0].Key == keyTopic {
		add(keyTopic, foreign[0].Value)
		foreign = foreign[1:]
	}
	switch {
	case !l.Manifest.Defined():
	case l.InfoHash.IsZero():
		write(keyTopic, urnPrefix+l.Manifest.String())
	default:
		write(escapedTopic, urnPrefix+l.Manifest.String())
	}
	if l.Name != "" {
		add(keyName, l.Name)
	}
	if l.Length > 0 {
		add(keyLength, strconv.FormatInt(l.Length, 10))
	}
	for _, a := range l.Trackers {
		add(keyTracker, a.String())
	}
	for _, a := range l.Peers {
		add(keyPeer, a.String())
	}
	if l.Coded > 0 {
		add(keyCoded, strconv.Itoa(l.Coded))
	}
	if l.Coded > 0 && l.Strategy.Gossip() {
		add(keyHow, l.Strategy.String())
	}
	for _, a := range l.Announce {
		add(keyAnnounce, a)
	}
	for _, a := range l.TorrentPeers {
		add(keyTorrentPeer, a.String())
	}
	for _, p := range foreign {
		add(p.Key, p.Value)
	}
	return b.String()
}

// add takes in one parameter.
func (l *Link) add(key, value string) (err error) {
	switch {
	case key == keyTopic && hasPrefixFold(value, urnPrefix):
		return l.setManifest(value[len(urnPrefix):])
	case key == keyTopic && hasPrefixFold(value, btihPrefix):
		return l.setInfoHash(value[len(btihPrefix):])
	case key == keyName:
		return l.setName(value)
	case key == keyLength:
		return l.setLength(value)
	case key == keyTracker:
		l.Trackers, err = appendAddr(l.Trackers, "tracker", value)
	case key == keyPeer:
		l.Peers, err = appendAddr(l.Peers, "peer", value)
	case key == keyCoded:
		return l.setCoded(value)
	case key == keyHow:
		return l.setStrategy(value)
	case key == keyAnnounce && CheckAnnounce(value) == nil:
		if len(l.Announce) == MaxLinkAddrs {
			return fmt.Errorf("link has more than %d BitTorrent trackers", MaxLinkAddrs)
		}
		l.Announce = append(l.Announce, value)
	case key == keyTorrentPeer && l.addTorrentPeer(value):
		if len(l.TorrentPeers) > MaxLinkAddrs {
			return fmt.Errorf("link has more than %d BitTorrent peers", MaxLinkAddrs)
		}
	default:
		l.Foreign = append(l.Foreign, Param{Key: key, Value: value})
	}
	return err
}

func (l *Link) setInfoHash(text string) error {
	h, err := ParseInfoHash(text)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if !l.InfoHash.IsZero() && l.InfoHash != h {
		return fmt.Errorf("link has two info-hashes, %s and %s", l.InfoHash, h)
	}
	l.InfoHash = h
	return nil
}

// addTorrentPeer reports whether it takes the address. Others write names of hosts
// there, which are foreign.
func (l *Link) addTorrentPeer(text string) bool {
	a, err := netip.ParseAddrPort(text)
	if err != nil || a.Port() == 0 {
		return false
	}
	l.TorrentPeers = append(l.TorrentPeers, a)
	return true
}

func (l *Link) setManifest(text string) error {
	c, err := cid.Decode(text)
	if err != nil {
		return fmt.Errorf("link: manifest id %q: %w", text, err)
	}
	if err := checkManifestCID(c); err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if l.Manifest.Defined() && !l.Manifest.Equals(c) {
		return fmt.Errorf("link has two manifest ids, %s and %s", l.Manifest, c)
	}
	l.Manifest = c
	return nil
}

func (l *Link) setName(name string) error {
	if name == "" {
		return nil
	}
	if err := checkName(name); err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if l.Name != "" && l.Name != name {
		return fmt.Errorf("link has two names, %q and %q", l.Name, name)
	}
	l.Name = name
	return nil
}

func (l *Link) setLength(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("link: length (xl) %q is not a number of bytes", text)
	}
	if l.Length != 0 && l.Length != n {
		return fmt.Errorf("link has two lengths, %d and %d", l.Length, n)
	}
	l.Length = n
	return nil
}

func (l *Link) setCoded(text string) error {
	k, err := strconv.Atoi(text)
	if err != nil || CheckCodedK(k) != nil {
		return fmt.Errorf("link: generations (x.rlnc) of %q blocks, want %d to %d", text, MinCodedK, MaxCodedK)
	}
	if l.Coded != 0 && l.Coded != k {
		return fmt.Errorf("link has two sizes of generations, %d and %d", l.Coded, k)
	}
	l.Coded = k
	return nil
}

func (l *Link) setStrategy(name string) error {
	s, err := ParseStrategy(name)
	if err != nil || !s.Gossip() {
		return fmt.Errorf("link: permutation gossip (x.gossip) of the kind %q, want one of %s", name, strings.Join(StrategyNames(), ", "))
	}
	if l.Strategy.Gossip() && l.Strategy != s {
		return fmt.Errorf("link has two kinds of permutation gossip, %s and %s", l.Strategy, s)
	}
	l.Strategy = s
	return nil
}

// appendAddr appends the address in text. Without the peer id of who listens
// there, nobody could tell an impostor from them.
func appendAddr(addrs []multiaddr.Multiaddr, what, text string) ([]multiaddr.Multiaddr, error) {
	if len(addrs) == MaxLinkAddrs {
		return nil, fmt.Errorf("link has more than %d %s addresses", MaxLinkAddrs, what)
	}
	a, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return nil, fmt.Errorf("link: %s address %q: %w", what, text, err)
	}
	if _, last := multiaddr.SplitLast(a); last == nil || last.Protocol().Code != multiaddr.P_P2P {
		return nil, fmt.Errorf("link: %s address %q does not end in /p2p/ID", what, text)
	}
	return append(addrs, a), nil
}

// escape percent-encodes what may not stand in a parameter. It leaves ':' and
// '/', which are harmless there and make ids and addresses readable.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~:/", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// unescape undoes percent-encoding, with '+' for a space as other clients have
// it. Text that is not encoded rightly is taken as it is.
func unescape(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
