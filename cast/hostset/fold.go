package hostset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Fold returns a short set of the hosts in natural order, like ClusterShell: numbers by value, shorter ones first.
// [Parse] of the set returns the same hosts. Hosts must be valid names; duplicates count once.
//
// Names that differ in several numbers are folded along each number in turn, starting with the one with the most values. The
// result is exact, but not always the shortest.
func Fold(hosts []string) string {
	patterns := map[string][]term{} // by the text around the numbers
	var text []byte
	for _, host := range hosts {
		var t term
		text, t = split(host, text[:0])
		patterns[string(text)] = append(patterns[string(text)], t)
	}
	var all []product
	for text, terms := range patterns {
		all = append(all, fold(strings.Split(text, mark), terms)...)
	}
	slices.SortFunc(all, func(a, b product) int { return compare(a.first, b.first) })
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.text
	}
	return strings.Join(texts, ",")
}

// mark replaces a number in the text of a pattern. No name contains it.
const mark = "\x00"

// term has the numbers in each place of a pattern: one number, or several in brackets.
type term []string

// product is the set of all names of a term.
type product struct{ first, text string }

// split appends the text of a name, with a mark for each number, to text. It also returns the numbers.
func split(host string, text []byte) ([]byte, term) {
	var t term
	for host != "" {
		part := host[:head(host)]
		host = host[len(part):]
		if isDigit(part[0]) && len(part) <= maxDigits {
			t = append(t, part)
			part = mark
		}
		text = append(text, part...)
	}
	return text, t
}

// fold returns products that contain each name of a pattern once. literals is the text around the numbers.
func fold(literals []string, terms []term) []product {
	if len(literals) == 1 {
		return []product{{literals[0], literals[0]}}
	}
	for _, d := range order(terms) {
		terms = merge(terms, d)
	}
	products := make([]product, len(terms))
	for i, t := range terms {
		p := product{literals[0], literals[0]}
		for d, numbers := range t {
			first := strings.TrimPrefix(numbers, "[")
			p.first += first[:head(first)] + literals[d+1]
			p.text += numbers + literals[d+1]
		}
		products[i] = p
	}
	return products
}

// order returns the places by their count of different numbers, highest first, and last first among equals.
func order(terms []term) (places []int) {
	if len(terms[0]) == 1 {
		return []int{0}
	}
	var count []int
	for d := range terms[0] {
		seen := map[string]bool{}
		for _, t := range terms {
			seen[t[d]] = true
		}
		places, count = append(places, d), append(count, len(seen))
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(b, a)) })
	return places
}

// merge joins the terms that differ only in place d, where each has one number. It sorts terms.
func merge(terms []term, d int) (merged []term) {
	others := func(a, b term) int {
		return cmp.Or(slices.Compare(a[:d], b[:d]), slices.Compare(a[d+1:], b[d+1:]))
	}
	slices.SortFunc(terms, func(a, b term) int { return cmp.Or(others(a, b), byValue(a[d], b[d])) })
	for len(terms) > 0 {
		n := 1
		for n < len(terms) && others(terms[0], terms[n]) == 0 {
			n++
		}
		numbers := make([]string, n)
		for i, t := range terms[:n] {
			numbers[i] = t[d]
		}
		terms[0][d] = join(numbers)
		merged, terms = append(merged, terms[0]), terms[n:]
	}
	return merged
}

// byValue compares numbers: shorter ones first.
func byValue(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// join returns the list of sorted numbers, with ranges.
func join(numbers []string) string {
	numbers = slices.Compact(numbers)
	if len(numbers) == 1 {
		return numbers[0]
	}
	var ranges []string
	for i := 0; i < len(numbers); {
		from := numbers[i]
		for i++; i < len(numbers) && follows(numbers[i-1], numbers[i]); i++ {
		}
		if last := numbers[i-1]; last != from {
			from += "-" + last
		}
		ranges = append(ranges, from)
	}
	return "[" + strings.Join(ranges, ",") + "]"
}

// follows reports whether b comes after a in a range, as 10 after 9 and after 09.
func follows(a, b string) bool {
	m, _ := strconv.ParseUint(a, 10, 64) // at most maxDigits
	n, _ := strconv.ParseUint(b, 10, 64)
	return n == m+1 && (len(a) == len(b) || b[0] != '0')
}

// compare compares names in natural order.
func compare(a, b string) int {
	for a != "" && b != "" {
		i, j := head(a), head(b)
		if isDigit(a[0]) && isDigit(b[0]) {
			if c := cmp.Compare(i, j); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(a[:i], b[:j]); c != 0 {
			return c
		}
		a, b = a[i:], b[j:]
	}
	return cmp.Compare(a, b)
}

// head returns the length of the leading digits, or of the text before the first digit.
func head(s string) int {
	i := 1
	for i < len(s) && isDigit(s[i]) == isDigit(s[0]) {
		i++
	}
	return i
}
