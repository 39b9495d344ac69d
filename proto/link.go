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

// linkPrefix is the prefix of a link, urnPrefix the prefix of the manifest id in it.
const (
	linkPrefix = "magnet:?"
	urnPrefix  = "urn:mob:"
)

// The keys of a link's parameters. BEP 9 reserves those that begin with "x." for
// experiments, and other clients skip them.
const (
	keyTopic   = "xt"
	keyName    = "dn"
	keyLength  = "xl"
	keyTracker = "x.mt"
	keyPeer    = "x.mp"
	keyCoded   = "x.rlnc"
	keyGossip  = "x.gossip"
	keyPlan    = "x.plan"
	// Keys of BitTorrent magnet URIs (BEP 9).
	keyAnnounce    = "tr"
	keyTorrentPeer = "x.pe"
	// escapedTopic is keyTopic in percent-encoding, which readers of URIs decode.
	// rTorrent does not, and rejects a link with an xt that is not of BitTorrent.
	escapedTopic = "x%74"
)

// Link is a magnet URI that identifies the content by its manifest id, its info-hash, or both.
// Everything else in it is an unverified hint. A link with an info-hash is a magnet URI for
// BitTorrent clients as well, and their magnet URIs are links.
type Link struct {
	// Manifest is the content id of the manifest (xt=urn:mob:...), undefined if only
	// the torrent is known.
	Manifest cid.Cid
	// Name is the name of the content (dn), one path element, empty if unknown.
	Name string
	// Length is the size of the content in bytes (xl), 0 if unknown.
	Length int64
	// Trackers are multiaddrs of mob's trackers (x.mt), each of which ends in /p2p/ID;
	// at most [MaxLinkAddrs].
	Trackers []multiaddr.Multiaddr
	// Peers are multiaddrs of members (x.mp), with the same form and limit.
	Peers []multiaddr.Multiaddr
	// Coded is k, the number of source blocks in a generation of a coded transfer
	// (x.rlnc), or 0 for a transfer in plain pieces.
	Coded int
	// Strategy is the strategy of a coded transfer (x.gossip).
	Strategy Strategy
	// Plan is the content id of the plan that the transfer follows (x.plan), undefined if it follows
	// none. It excludes Coded.
	Plan cid.Cid
	// InfoHash is the content's info-hash (xt=urn:btih:...), zero if it is not offered
	// to BitTorrent clients.
	InfoHash InfoHash
	// Announce are the announce URLs of BitTorrent trackers (tr): http, https or udp;
	// at most [MaxLinkAddrs].
	Announce []string
	// TorrentPeers are BitTorrent clients that have the content (x.pe); at most
	// [MaxLinkAddrs].
	TorrentPeers []netip.AddrPort
	// Foreign are all other parameters in the order of the link, among them an xt of
	// another scheme and a tr of another form.
	Foreign []Param
}

// Param is one parameter of a [Link], not percent-encoded.
type Param struct{ Key, Value string }

// ParseLink parses a link of at most [MaxLink] bytes. It keeps unknown parameters. It fails
// on a malformed address of a tracker or a member, on a link without an id, and on two
// different values of one parameter.
func ParseLink(s string) (*Link, error) {
	if len(s) > MaxLink {
		return nil, fmt.Errorf("link of %d bytes, at most %d", len(s), MaxLink)
	}
	s = strings.TrimSpace(s)
	if !hasPrefixFold(s, linkPrefix) {
		return nil, errors.New("not a magnet URI: " +
			"a link begins with magnet:?xt=urn:mob:<id> or magnet:?xt=urn:btih:<info-hash>")
	}
	l := new(Link)
	for part := range strings.SplitSeq(UnescapeEntities(s[len(linkPrefix):]), "&") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		if err := l.add(unescape(key), unescape(value)); err != nil {
			return nil, err
		}
	}
	if !l.Manifest.Defined() && l.InfoHash.IsZero() {
		return nil, errors.New("link has neither a manifest id (xt=urn:mob:…) nor an info-hash (xt=urn:btih:…)")
	}
	if l.Strategy.Gossip() && l.Coded == 0 {
		return nil, errors.New("link has a strategy (x.gossip) and no size of generations (x.rlnc)")
	}
	if l.Plan.Defined() && l.Coded > 0 {
		return nil, errors.New("link has a plan (x.plan) and generations (x.rlnc): a transfer is planned or coded")
	}
	// String may encode more than s does, and ParseLink must accept its result.
	if n := len(l.String()); n > MaxLink {
		return nil, fmt.Errorf("link of %d bytes when fully encoded, at most %d", n, MaxLink)
	}
	return l, nil
}

// Keys returns the keys of the content's swarm: the manifest id, and the id of the info-hash.
// Nodes with a key in common are in one swarm.
func (l *Link) Keys() (keys []cid.Cid) {
	if l.Manifest.Defined() {
		keys = append(keys, l.Manifest)
	}
	if !l.InfoHash.IsZero() {
		keys = append(keys, l.InfoHash.CID())
	}
	return keys
}

// String returns the link as text, of which [ParseLink] returns l again. Some BitTorrent
// clients read only the first xt, so the info-hash precedes the manifest id, as do the first
// parameters of Foreign that are an xt. Beside an info-hash the key of the manifest id is
// percent-encoded.
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
		add(keyGossip, l.Strategy.String())
	}
	if l.Plan.Defined() {
		add(keyPlan, l.Plan.String())
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

// MarshalText implements [encoding.TextMarshaler].
func (l *Link) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] by [ParseLink].
func (l *Link) UnmarshalText(text []byte) error {
	parsed, err := ParseLink(string(text))
	if err != nil {
		return err
	}
	*l = *parsed
	return nil
}

// add adds one decoded parameter.
func (l *Link) add(key, value string) error {
	client, _ := netip.ParseAddrPort(value) // other programs write host names in x.pe, which are foreign
	switch {
	case key == keyTopic && hasPrefixFold(value, urnPrefix):
		return setID(&l.Manifest, "manifest id", value[len(urnPrefix):])
	case key == keyTopic && hasPrefixFold(value, btihPrefix):
		return l.setInfoHash(value[len(btihPrefix):])
	case key == keyName:
		return l.setName(value)
	case key == keyLength:
		return l.setLength(value)
	case key == keyTracker:
		return appendAddr(&l.Trackers, "tracker", value)
	case key == keyPeer:
		return appendAddr(&l.Peers, "peer", value)
	case key == keyCoded:
		return l.setCoded(value)
	case key == keyGossip:
		return l.setStrategy(value)
	case key == keyPlan:
		return setID(&l.Plan, "plan", value)
	case key == keyAnnounce && CheckAnnounce(value) == nil:
		return appendTo(&l.Announce, value, "BitTorrent trackers")
	case key == keyTorrentPeer && client.Port() != 0:
		return appendTo(&l.TorrentPeers, client, "BitTorrent peers")
	default:
		l.Foreign = append(l.Foreign, Param{Key: key, Value: value})
		return nil
	}
}

// appendTo appends a value to a list of a link, unless that is full.
func appendTo[T any](list *[]T, v T, what string) error {
	if len(*list) == MaxLinkAddrs {
		return fmt.Errorf("link has more than %d %s", MaxLinkAddrs, what)
	}
	*list = append(*list, v)
	return nil
}

// setOnce sets a field of a link. A link may repeat a value, but not have two of them.
func setOnce[T comparable](field *T, v T, what string) error {
	var zero T
	if *field != zero && *field != v {
		return fmt.Errorf("link has two %s, %v and %v", what, *field, v)
	}
	*field = v
	return nil
}

func (l *Link) setInfoHash(text string) error {
	h, err := parseInfoHash(text)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	return setOnce(&l.InfoHash, h, "info-hashes")
}

// setID sets the content id of a manifest or a plan.
func setID(id *cid.Cid, what, text string) error {
	c, err := cid.Decode(text)
	if err != nil {
		return fmt.Errorf("link: invalid %s %q: copy all of the link", what, text)
	}
	if err := checkManifestCID(c); err != nil {
		return fmt.Errorf("link: %s: %w", what, err)
	}
	return setOnce(id, c, what+"s")
}

func (l *Link) setName(name string) error {
	if name == "" {
		return nil
	}
	if err := CheckName(name); err != nil {
		return fmt.Errorf("link: %w", err)
	}
	return setOnce(&l.Name, name, "names")
}

func (l *Link) setLength(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("link: length (xl) %q is not a number of bytes", text)
	}
	return setOnce(&l.Length, n, "lengths")
}

func (l *Link) setCoded(text string) error {
	k, err := strconv.Atoi(text)
	if err != nil || CheckCodedK(k) != nil {
		return fmt.Errorf("link: size of generations (x.rlnc) %q, want %d to %d", text, MinCodedK, MaxCodedK)
	}
	return setOnce(&l.Coded, k, "sizes of generations")
}

func (l *Link) setStrategy(name string) error {
	s, err := ParseStrategy(name)
	if err != nil || !s.Gossip() {
		return fmt.Errorf("link: strategy (x.gossip) %q, want one of %s", name, strings.Join(StrategyNames(), ", "))
	}
	return setOnce(&l.Strategy, s, "strategies")
}

// appendAddr parses an address and appends it. The address must have a peer id, to
// authenticate the node there.
func appendAddr(addrs *[]multiaddr.Multiaddr, what, text string) error {
	a, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return fmt.Errorf("link: invalid %s address %q: copy all of the link", what, text)
	}
	if _, last := multiaddr.SplitLast(a); last == nil || last.Protocol().Code != multiaddr.P_P2P {
		return fmt.Errorf("link: %s address %q does not end in /p2p/ID", what, text)
	}
	return appendTo(addrs, a, what+" addresses")
}

// escape percent-encodes s for a parameter. It leaves ':' and '/', which are allowed there,
// so that ids and addresses stay readable.
func escape(s string) string {
	return strings.NewReplacer("%3A", ":", "%2F", "/", "+", "%20").Replace(url.QueryEscape(s))
}

// unescape is the inverse of escape, and decodes '+' to a space, as other clients encode
// it. It returns text with malformed encoding as it is.
func unescape(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

// UnescapeEntities replaces the &amp; of a link that was copied from the source of a web page. A link does not contain
// it otherwise: keys have no semicolon.
func UnescapeEntities(link string) string { return strings.ReplaceAll(link, "&amp;", "&") }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
