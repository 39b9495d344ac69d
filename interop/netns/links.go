package netns

import (
	"bufio"
	"fmt"
	"io"
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

// Divided returns the links with their rates divided by a number.
func (l Links) Divided(by float64) Links {
	rates := make(map[pair]Rate)
	for p, r := range l.rates {
		rates[p] = r / Rate(by)
	}
	return Links{rates: rates}
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

// ParseLinks parses links, one on a line: the names of two clusters and a rate for ParseRate,
// separated by spaces. A # starts a comment.
//
//	# site 1 to site 2
//	A B 3MB
//	A C 800KB
//
// A link is for both directions, and must not be repeated. Whether every two clusters of a grid
// have a link is checked by New. A syntax error names the line; an error of r is wrapped.
func ParseLinks(r io.Reader) (Links, error) {
	var links Links
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if err := links.add(words); err != nil {
			return Links{}, fmt.Errorf("links, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Links{}, fmt.Errorf("links, after line %d: %w", n, err)
	}
	return links, nil
}

// add adds the link of a line's words.
func (l *Links) add(words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("%d words, want two clusters and a rate, as A B 3MB", len(words))
	}
	a, b := words[0], words[1]
	if a == b {
		return fmt.Errorf("a link from %s to itself", a)
	}
	if l.Rate(a, b) != 0 {
		return fmt.Errorf("duplicate link between %s and %s", a, b)
	}
	r, err := ParseRate(words[2])
	if err != nil {
		return err
	}
	*l = l.With(a, b, r)
	return nil
}

// Fast is the links of the standard grid of four clusters, with 12 MB/s in and out of each.
func Fast() Links {
	return Links{}.
		With("A", "B", 3*MBps).With("A", "C", 3*MBps).With("A", "D", 6*MBps).
		With("B", "C", 6*MBps).With("B", "D", 3*MBps).
		With("C", "D", 3*MBps)
}

// Slow is Fast with 0.8 MB/s on its two best links, A-D and B-C.
func Slow() Links {
	return Fast().With("A", "D", 0.8*MBps).With("B", "C", 0.8*MBps)
}
