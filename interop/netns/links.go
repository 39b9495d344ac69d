package netns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Links holds the rate between each two clusters, the same in both directions. It is a value that never changes: With and
// Among return new ones, so it may be shared freely. The zero Links has no link.
type Links struct {
	rates map[pair]Rate
}

// pair names two clusters in alphabetical order, so that a link has one key.
type pair struct{ a, b string }

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// Uniform links every two of the named clusters at one rate.
func Uniform(r Rate, clusters ...string) Links {
	l := Links{rates: make(map[pair]Rate)}
	for i, a := range clusters {
		for _, b := range clusters[i+1:] {
			l.rates[pairOf(a, b)] = r
		}
	}
	return l
}

// With returns the links with the one between a and b set to r, which must be more than zero.
func (l Links) With(a, b string, r Rate) Links {
	rates := maps.Clone(l.rates)
	if rates == nil {
		rates = make(map[pair]Rate)
	}
	rates[pairOf(a, b)] = r
	return Links{rates: rates}
}

// Among returns the links that have both ends among the named clusters.
func (l Links) Among(clusters ...string) Links {
	rates := make(map[pair]Rate)
	for p, r := range l.rates {
		if slices.Contains(clusters, p.a) && slices.Contains(clusters, p.b) {
			rates[p] = r
		}
	}
	return Links{rates: rates}
}

// Rate is the rate between a and b, zero where there is no link.
func (l Links) Rate(a, b string) Rate {
	return l.rates[pairOf(a, b)]
}

// Clusters lists the clusters that have a link, sorted.
func (l Links) Clusters() []string {
	seen := make(map[string]bool)
	for p := range l.rates {
		seen[p.a], seen[p.b] = true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

// String lists the links in alphabetical order, as "A-B 3 MB/s, A-C 6 MB/s".
func (l Links) String() string {
	var parts []string
	for _, p := range l.pairs() {
		parts = append(parts, fmt.Sprintf("%s-%s %v", p.a, p.b, l.rates[p]))
	}
	return strings.Join(parts, ", ")
}

// pairs lists the links in an order that depends on the names alone.
func (l Links) pairs() []pair {
	return slices.SortedFunc(maps.Keys(l.rates), func(x, y pair) int {
		if c := strings.Compare(x.a, y.a); c != 0 {
			return c
		}
		return strings.Compare(x.b, y.b)
	})
}
