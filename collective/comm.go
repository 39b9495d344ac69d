package collective

import (
	"context"
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer"
)

const (
	// MaxMembers bounds the members.
	MaxMembers = 256
	// MaxValue bounds a value, in bytes.
	MaxValue = 1 << 30
)

// ErrMember is the error of every operation after a member was lost.
type ErrMember struct{ Rank int } //nolint:errname // the name says what was lost

// Error implements error.
func (e ErrMember) Error() string { return fmt.Sprintf("member of rank %d was lost", e.Rank) }

// Comm is a member of a group that calls operations together.
type Comm struct{}

// Join waits until size members have joined and returns when all of them have the same roster. Whoever
// knows name can join: outside a network, make it as hard to guess as a password.
func Join(_ context.Context, _ *peer.Node, _ string, _ int) (*Comm, error) {
	return nil, errors.ErrUnsupported
}

// Rank returns the number of this member, from 0. Ranks are by cluster, then by peer id.
func (c *Comm) Rank() int { return 0 }

// Size returns the number of members.
func (c *Comm) Size() int { return 0 }

// Close leaves the group. The operations of the remaining members fail.
func (c *Comm) Close() {}

// Broadcast returns the bytes of the root at every member.
func (c *Comm) Broadcast(_ context.Context, _ int, _ []byte) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Gather returns the bytes of all members at the root, by rank, and nil at the remaining members.
func (c *Comm) Gather(_ context.Context, _ int, _ []byte) ([][]byte, error) {
	return nil, errors.ErrUnsupported
}

// Reduce returns the merged values of all members at the root, and nil at the remaining members.
func (c *Comm) Reduce(_ context.Context, _ int, _ []byte, _ Op) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// AllReduce returns the merged values of all members at every member.
func (c *Comm) AllReduce(_ context.Context, _ []byte, _ Op) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Shuffle sends to[i] to the member of rank i, and returns the merged values that all members sent to this one.
func (c *Comm) Shuffle(_ context.Context, _ [][]byte, _ Op) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
