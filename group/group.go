package group

import (
	"context"
	"errors"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
)

// MaxMessage bounds a message, in bytes.
const MaxMessage = 1 << 20

// Config configures a [Group].
type Config struct {
	// Key names the group. Outside a network, every node that has it can join.
	Key [32]byte
	// Peers are addresses of members, with their peer ids. They are dialed in addition to the members that trackers
	// name.
	Peers []ma.Multiaddr
	// Newest returns a message of at most 32 KiB that every member receives when its session with this node starts. Nil
	// means none. It must not block.
	Newest func() []byte
	// Left is called when the session with a member has ended. Nil means that no function is called. It must not block.
	Left func(libpeer.ID)
}

// Member is a member of a group.
type Member struct {
	ID      libpeer.ID
	Cluster string
	// RTT is the last round trip, 0 if it is unknown.
	RTT time.Duration
}

// Message is a message from a member.
type Message struct {
	From  libpeer.ID
	Bytes []byte
}

// Group is the membership of a node in a group.
type Group struct{}

// Join joins the group of the given key. Members are found by the node's trackers and by peers.
// It does not wait for them. The membership lasts until Close.
func Join(_ context.Context, _ *peer.Node, _ Config) (*Group, error) {
	return nil, errors.ErrUnsupported
}

// Members returns the other members that this node knows, in the order of clusters and peer ids.
func (g *Group) Members() []Member { return nil }

// Cast sends a message to all members, into each cluster once. It blocks while members have not received 4 MiB of
// earlier messages.
func (g *Group) Cast(_ context.Context, _ []byte) error { return errors.ErrUnsupported }

// Send sends a message to one member. It blocks while the member has not received 4 MiB of earlier messages, and while
// a session with it is opened.
func (g *Group) Send(_ context.Context, _ libpeer.ID, _ []byte) error { return errors.ErrUnsupported }

// Receive returns the next message.
func (g *Group) Receive(_ context.Context) (Message, error) { return Message{}, errors.ErrUnsupported }

// Close leaves the group, after at most a second in which waiting messages are sent.
func (g *Group) Close() {}
