package netns

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// ParseLinks reads links from text, one to a line: two names of clusters and a rate as ParseRate takes it, with blanks between.
// What follows a # is a comment.
//
//	# site 1 to site 2
//	A B 3MB
//	A C 800KB
//
// A link counts both ways and may stand there once. Whether every two clusters of a grid have one, New checks. An error in the
// text names the line; an error of r comes back as the cause.
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

// add adds the link that the words of a line describe.
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
