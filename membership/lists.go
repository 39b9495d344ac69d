package membership

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Lists are lists of revoked members of one network, the newest first. A member is revoked if any of
// them names it: a newer list lacks members of an older one if it was made without that. The newest list
// is always kept. An older one is kept if it names a member that no newer list names. Lists are
// immutable.
type Lists []*List

// MaxLists bounds the lists that are kept and sent. One list with the members of all replaces them.
const MaxLists = 16

// ErrTooManyLists is the error of a list that would be one too many.
var ErrTooManyLists = fmt.Errorf("more than %d lists of revoked members, of which each names other members: "+
	"make one of all with `mob network revoke`", MaxLists)

// Has reports whether any list names a node.
func (ls Lists) Has(id peer.ID) bool {
	return slices.ContainsFunc(ls, func(l *List) bool { return l.Has(id) })
}

// Peers returns the members of all lists, in ascending order.
func (ls Lists) Peers() []peer.ID {
	if len(ls) == 1 {
		return ls[0].Peers
	}
	var all []peer.ID
	for _, l := range ls {
		all = append(all, l.Peers...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Serial returns the serial of the newest list, 0 if there is none.
func (ls Lists) Serial() uint64 {
	if len(ls) == 0 {
		return 0
	}
	return ls[0].Serial
}

// PEM returns the lists as text.
func (ls Lists) PEM() []byte {
	var text []byte
	for _, l := range ls {
		text = append(text, l.PEM()...)
	}
	return text
}

// add returns the lists with another one, and reports whether that is new: newer than all before, or with
// members that no list names.
func (ls Lists) add(l *List) (Lists, bool, error) {
	if len(ls) > 0 && ls[0].Network != l.Network {
		return ls, false, errors.New("lists of revoked members of two networks")
	}
	if l.Serial <= ls.Serial() && !slices.ContainsFunc(l.Peers, func(id peer.ID) bool { return !ls.Has(id) }) {
		return ls, false, nil
	}
	all := append(slices.Clone(ls), l)
	slices.SortFunc(all, func(a, b *List) int {
		return cmp.Or(cmp.Compare(b.Serial, a.Serial), bytes.Compare(a.envelope, b.envelope))
	})
	kept := all[:1]
	for _, l := range all[1:] {
		if slices.ContainsFunc(l.Peers, func(id peer.ID) bool { return !kept.Has(id) }) {
			kept = append(kept, l)
		}
	}
	if len(kept) > MaxLists {
		return ls, false, ErrTooManyLists
	}
	return kept, true, nil
}
