package netns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Links is the rates between clusters, the same in both directions. It is an immutable value: With
// and Among return new ones. The zero Links has no link.
type Links struct {
	rates map[pair]Rate
}

// pair is two clusters in alphabetical order, the key of their link.
type pair struct{ a, b string }

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// Uniform links every two clusters at one rate.
func Uniform(r Rate, clusters ...string) Links {
	l := Links{rates: make(map[pair]Rate)}
	for i, a := range clusters {
		for _, b := range clusters[i+1:] {
			l.rates[pairOf(a, b)] = r
		}
	}
	return l
}

// With returns the links with the rate between a and b set to r, which must be positive.
func (l Links) With(a, b string, r Rate) Links {
	rates := maps.Clone(l.rates)
	if rates == nil {
		rates = make(map[pair]Rate)
	}
	rates[pairOf(a, b)] = r
	return Links{rates: rates}
}

// Among returns the links between clusters of these names.
func (l Links) Among(clusters ...string) Links {
	rates := make(map[pair]Rate)
	for p, r := range l.rates {
		if slices.Contains(clusters, p.a) && slices.Contains(clusters, p.b) {
			rates[p] = r
		}
	}
	return Links{rates: rates}
}

// Rate is the rate between a and b, zero if there is no link.
func (l Links) Rate(a, b string) Rate {
	return l.rates[pairOf(a, b)]
}

// Clusters lists the clusters with a link, sorted.
func (l Links) Clusters() []string {
	seen := make(map[string]bool)
	for p := range l.rates {
		seen[p.a], seen[p.b] = true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

// String lists the links in alphabetical order, such as "A-B 3 MB/s, A-C 6 MB/s".
func (l Links) String() string {
	var parts []string
	for _, p := range l.pairs() {
		parts = append(parts, fmt.Sprintf("%s-%s %v", p.a, p.b, l.rates[p]))
	}
	return strings.Join(parts, ", ")
}

// pairs lists the keys of all links, sorted.
func (l Links) pairs() []pair {
	return slices.SortedFunc(maps.Keys(l.rates), func(x, y pair) int {
		if c := strings.Compare(x.a, y.a); c != 0 {
			return c
		}
		return strings.Compare(x.b, y.b)
	})
}
