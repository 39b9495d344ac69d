package hostset

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// Fold returns a short set of the hosts in natural order, like ClusterShell: numbers by value, shorter ones first.
// [Parse] of the set returns the same hosts. Hosts must be valid names; duplicates count once.
//
// Names that differ in several numbers are folded along each number in turn, starting with the one with the most values. The
// result is exact, but not always the shortest.
func Fold(hosts []string) string {
	patterns := map[string]*pattern{}
	var scratch []byte
	var numbers []number
	for _, host := range hosts {
		scratch, numbers = split(host, scratch[:0], numbers[:0])
		p := patterns[string(scratch)]
		if p == nil {
			p = &pattern{literals: strings.Split(string(scratch), mark)}
			patterns[string(scratch)] = p
		}
		p.rows = append(p.rows, numbers...)
	}
	var all []product
	for _, p := range patterns {
		all = append(all, p.fold()...)
	}
	slices.SortFunc(all, func(a, b product) int { return compare(a.first, b.first) })
	var b strings.Builder
	for i, t := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// mark replaces a number in the key of a pattern. No name contains it.
const mark = "\x00"

// number is a number in a name, with its width in the upper bits: numbers are ordered by width, then by value.
type number uint64

const valueBits = 57 // enough for 10^17

func makeNumber(value uint64, width int) number { return number(uint64(width)<<valueBits | value) }

func (n number) width() int    { return int(n >> valueBits) }
func (n number) value() uint64 { return uint64(n) & (1<<valueBits - 1) }

// next returns the number that follows n in a range: 10 after 9 and after 09.
func (n number) next() number {
	v, width := n.value()+1, n.width()
	power := uint64(1)
	for range width {
		power *= 10
	}
	if v == power {
		width++
	}
	return makeNumber(v, width)
}

func (n number) append(b []byte) []byte { return appendPadded(b, n.value(), n.width()) }

// split appends the key of the pattern of a name to key, and its numbers to numbers.
func split(host string, key []byte, numbers []number) ([]byte, []number) {
	for i := 0; i < len(host); {
		from := i
		if !isDigit(host[i]) {
			for i < len(host) && !isDigit(host[i]) {
				i++
			}
			key = append(key, host[from:i]...)
			continue
		}
		value := uint64(0)
		for i < len(host) && isDigit(host[i]) {
			value = value*10 + uint64(host[i]-'0')
			i++
		}
		if i-from > maxDigits {
			key = append(key, host[from:i]...)
			continue
		}
		key = append(key, mark...)
		numbers = append(numbers, makeNumber(value, i-from))
	}
	return key, numbers
}

// pattern is a group of names that differ only in numbers.
type pattern struct {
	literals []string // one more than the numbers in a name
	rows     []number // the numbers of each name in turn
}

// product is a set of all combinations of some numbers in the places of a pattern.
type product struct {
	text  string
	first string // the first name
}

// term is an unfinished product: in each place a number, or the text of several.
type term []place

type place struct {
	n    number // the first
	text string // empty for one number
}

// fold returns products that contain each name of the pattern once.
func (p *pattern) fold() []product {
	dims := len(p.literals) - 1
	if dims == 0 {
		return []product{{p.literals[0], p.literals[0]}}
	}
	terms := make([]term, 0, len(p.rows)/dims)
	places := make([]place, len(p.rows))
	for i, n := range p.rows {
		places[i].n = n
		if i%dims == 0 {
			terms = append(terms, places[i:i+dims:i+dims])
		}
	}
	for _, d := range p.order() {
		terms = merge(terms, d)
	}
	products := make([]product, len(terms))
	for i, t := range terms {
		products[i] = product{p.text(t, place.appendAll), p.text(t, func(l place, b []byte) []byte { return l.n.append(b) })}
	}
	return products
}

// order returns the places of the pattern by their count of different numbers, highest first, and last first among equals.
func (p *pattern) order() []int {
	dims := len(p.literals) - 1
	order, count := make([]int, dims), make([]int, dims)
	if dims == 1 {
		return order
	}
	for d := range dims {
		order[d] = d
		seen := map[number]bool{}
		for i := d; i < len(p.rows); i += dims {
			seen[p.rows[i]] = true
		}
		count[d] = len(seen)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(b, a)) })
	return order
}

// merge joins the terms that differ only in place d, where each has one number.
func merge(terms []term, d int) []term {
	type joined struct {
		term    term
		numbers []number
	}
	var all []*joined
	at := map[string]*joined{}
	var key []byte
	for _, t := range terms {
		key = key[:0]
		for i, l := range t {
			if i == d {
				continue
			}
			key = binary.BigEndian.AppendUint64(key, uint64(l.n))
			key = append(append(key, l.text...), mark...)
		}
		j := at[string(key)]
		if j == nil {
			j = &joined{term: t}
			at[string(key)] = j
			all = append(all, j)
		}
		j.numbers = append(j.numbers, t[d].n)
	}
	merged := make([]term, len(all))
	for i, j := range all {
		slices.Sort(j.numbers)
		j.numbers = slices.Compact(j.numbers)
		j.term[d] = place{n: j.numbers[0]}
		if len(j.numbers) > 1 {
			j.term[d].text = ranges(j.numbers)
		}
		merged[i] = j.term
	}
	return merged
}

// ranges returns sorted numbers as a list of ranges.
func ranges(numbers []number) string {
	var b []byte
	for i := 0; i < len(numbers); {
		from := i
		for i++; i < len(numbers) && numbers[i] == numbers[i-1].next(); i++ {
		}
		if from > 0 {
			b = append(b, ',')
		}
		b = numbers[from].append(b)
		if i-from > 1 {
			b = numbers[i-1].append(append(b, '-'))
		}
	}
	return string(b)
}

func (l place) appendAll(b []byte) []byte {
	if l.text == "" {
		return l.n.append(b)
	}
	return append(append(append(b, '['), l.text...), ']')
}

// text formats a term, using f for each place.
func (p *pattern) text(t term, f func(place, []byte) []byte) string {
	b := []byte(p.literals[0])
	for i, l := range t {
		b = append(f(l, b), p.literals[i+1]...)
	}
	return string(b)
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
