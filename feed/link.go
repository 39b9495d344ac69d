package feed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

const (
	linkPrefix  = "magnet:?"
	topicPrefix = "urn:mob-feed:"
)

// Link names a feed: magnet:?xt=urn:mob-feed:ID&dn=NAME&x.mt=TRACKER. ID is the peer id of the key that signs the heads.
type Link struct {
	Key      crypto.PubKey
	Name     string                // for users; may be empty
	Trackers []multiaddr.Multiaddr // of the group
}

// IsLink reports whether a text is the link of a feed, valid or not.
func IsLink(s string) bool { return strings.Contains(s, "xt="+topicPrefix) }

// ParseLink parses the link of a feed. It ignores unknown parameters.
func ParseLink(s string) (*Link, error) {
	query, ok := strings.CutPrefix(strings.TrimSpace(s), linkPrefix)
	if !ok || len(s) > proto.MaxLink {
		return nil, errors.New("not the link of a feed, which starts with " + linkPrefix + "xt=" + topicPrefix + "ID")
	}
	values, err := url.ParseQuery(proto.UnescapeEntities(query))
	if err != nil {
		return nil, fmt.Errorf("link of a feed: %w", err)
	}
	id, ok := strings.CutPrefix(values.Get("xt"), topicPrefix)
	if !ok {
		return nil, errors.New("not the link of a feed: it has no xt=" + topicPrefix + "ID")
	}
	peer, err := libpeer.Decode(id)
	if err != nil {
		return nil, fmt.Errorf("link of a feed: invalid id %q: copy all of the link", id)
	}
	l := &Link{Name: values.Get("dn")}
	if l.Key, err = peer.ExtractPublicKey(); err != nil {
		return nil, fmt.Errorf("link of a feed: %w", err)
	}
	if len(values["x.mt"]) > proto.MaxLinkAddrs {
		return nil, fmt.Errorf("link of a feed has more than %d trackers", proto.MaxLinkAddrs)
	}
	for _, text := range values["x.mt"] {
		a, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("link of a feed: invalid tracker %q: copy all of the link", text)
		}
		l.Trackers = append(l.Trackers, a)
	}
	return l, nil
}

// ID returns the peer id of the key, which names the feed.
func (l *Link) ID() string { return idOf(l.Key).String() }

func idOf(key crypto.PubKey) libpeer.ID {
	id, err := libpeer.IDFromPublicKey(key)
	if err != nil {
		panic(err) // keys are Ed25519, and have been encoded
	}
	return id
}

// String returns the link as text.
func (l *Link) String() string {
	s := linkPrefix + "xt=" + topicPrefix + l.ID()
	if l.Name != "" {
		s += "&dn=" + url.QueryEscape(l.Name)
	}
	for _, a := range l.Trackers {
		s += "&x.mt=" + a.String()
	}
	return s
}

// GroupKey returns the key of the group in which the publisher and the followers of a feed meet.
func GroupKey(key crypto.PubKey) [32]byte {
	return sha256.Sum256([]byte("mob-feed:" + string(idOf(key))))
}
