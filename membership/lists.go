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
// them names it: a newer list may have been made without knowing the older one. The newest list
// is always kept. An older one is kept if it names a member that no newer list names. Lists are
// immutable.
type Lists []*List

// maxLists bounds the lists that a member keeps and sends. One list with the members of all replaces them.
const maxLists = 16

// ErrTooManyLists is the error of a member that would keep more than maxLists.
var ErrTooManyLists = fmt.Errorf("more than %d different lists of revoked members: "+
	"merge them with `mob network revoke`", maxLists)

// Has reports whether any list names a node.
func (ls Lists) Has(id peer.ID) bool {
	return slices.ContainsFunc(ls, func(l *List) bool { return l.Has(id) })
}

// Peers returns the members of all lists, in ascending order.
func (ls Lists) Peers() []peer.ID {
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

// PEM returns the lists in PEM.
func (ls Lists) PEM() []byte {
	var text []byte
	for _, l := range ls {
		text = append(text, l.PEM()...)
	}
	return text
}

// add returns the lists with l, and reports whether l is new: newer than all lists, or with members that
// no list names.
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
	return kept, true, nil
}
