package netns

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

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
		return fmt.Errorf("the link between %s and %s is there already", a, b)
	}
	r, err := ParseRate(words[2])
	if err != nil {
		return err
	}
	*l = l.With(a, b, r)
	return nil
}
