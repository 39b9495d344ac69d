package assign

import (
	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// Share is a set of numbers below Count: each i with First <= i mod Every < End.
type Share struct{ First, End, Every, Count int }

// Ranges returns the share of the member with a rank if each member has a range of numbers.
func Ranges(count, rank, size int) Share {
	first, end := ranks.Share(count, rank, size)
	return Share{first, end, count, count}
}

// Turns returns the share if each member has every nth number, and so a part of any range.
func Turns(count, rank, size int) Share { return Share{rank, rank + 1, size, count} }

// All returns the share if each member has all numbers.
func All(count int) Share { return Share{0, count, count, count} }

// Has reports whether a number is in the share. The zero Share has none.
func (s Share) Has(i int) bool { return s.Every > 0 && i%s.Every >= s.First && i%s.Every < s.End }

// Ranges returns the numbers of the share.
func (s Share) Ranges() (rs []proto.Range) {
	for at := 0; at < s.Count && s.End > s.First; at += s.Every {
		if first, end := at+s.First, min(at+s.End, s.Count); first < end {
			rs = append(rs, proto.Range{First: uint32(first), Count: uint32(end - first)})
		}
	}
	return rs
}

// Group is the node's place in a group of nodes.
type Group struct {
	Rank, Size int
	Share      Share
}

// Matches returns the ranks first <= r < end in a sibling with size members that match the node's.
func (g *Group) Matches(size int) (first, end int) { return ranks.Matches(g.Rank, g.Size, size) }

// Position returns the node's position in the order of its group at the link to a sibling.
func (g *Group) Position(own, sibling string, siblings []string) int {
	return (g.Rank + ranks.Turn(own, sibling, siblings, g.Size)) % g.Size
}
