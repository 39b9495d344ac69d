package hostset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxHosts bounds the names in all operands of a set.
	MaxHosts = 2_000_000
	// maxName bounds the length of a name: a DNS host name (RFC 1035, section 2.3.4) after a user name.
	maxName = 320
	// maxDigits bounds the length of a number in brackets. Longer numbers in a name are text.
	maxDigits = 17
)

// SyntaxError is an error in a host set.
type SyntaxError struct {
	Text    string
	Pos     int // byte offset in Text
	Problem string
}

// Error implements error. It counts positions from one.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, position %d: %s", excerpt(e.Text, e.Pos), e.Pos+1, e.Problem)
}

// excerpt quotes a text, or the part around pos of a long one.
func excerpt(text string, pos int) string {
	const around = 30
	before, after := "...", "..."
	from, to := pos-around, pos+around
	if from <= 0 || len(text) <= 2*around {
		from, before = 0, ""
	}
	if to >= len(text) || len(text) <= 2*around {
		to, after = len(text), ""
	}
	return before + strconv.Quote(text[from:to]) + after
}

// Parse returns the hosts of a set, in the order of the text. After an operator there may be none.
// Errors are of type [*SyntaxError]. A duplicate host in a union is an error.
func Parse(text string) ([]string, error) { return parse(text, MaxHosts) }

func parse(text string, limit uint64) ([]string, error) {
	p := &parser{text: text}
	s := new(set)
	total := uint64(0)
	for op := byte(','); ; {
		at := p.skipSpace()
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		if total += o.size(); total > limit {
			return nil, p.fail(at, "more than %d hosts", limit)
		}
		if name := s.apply(op, o); name != "" {
			return nil, p.fail(at, "duplicate host %s", name)
		}
		if p.skipSpace(); p.pos == len(text) {
			return s.hosts(), nil
		}
		if op = text[p.pos]; strings.IndexByte(",!&^", op) < 0 {
			return nil, p.unexpected(`want "," between hosts`)
		}
		p.pos++
	}
}

// operand is a pattern of a set: literals, with a list of numbers after each except the last.
type operand struct {
	literals []string
	numbers  [][]run
}

// run is a range of numbers, padded to a width.
type run struct {
	first, last, step uint64
	width             int
}

func (r run) size() uint64 { return (r.last-r.first)/r.step + 1 }

// size returns the number of names, at most MaxHosts+1.
func (o *operand) size() uint64 {
	size := uint64(1)
	for _, runs := range o.numbers {
		sum := uint64(0)
		for _, r := range runs {
			sum = min(sum+min(r.size(), MaxHosts+1), MaxHosts+1)
		}
		size = min(size*sum, MaxHosts+1)
	}
	return size
}

// longest returns the length of the longest name.
func (o *operand) longest() int {
	n := 0
	for _, l := range o.literals {
		n += len(l)
	}
	for _, runs := range o.numbers {
		widest := 0
		for _, r := range runs {
			widest = max(widest, r.width, len(strconv.FormatUint(r.last, 10)))
		}
		n += widest
	}
	return n
}

// names yields the names in order.
func (o *operand) names(yield func(string) bool) { o.extend(nil, 0, yield) }

// extend yields the names that start with name and continue with literal i.
func (o *operand) extend(name []byte, i int, yield func(string) bool) bool {
	name = append(name, o.literals[i]...)
	if i == len(o.numbers) {
		return yield(string(name))
	}
	for _, r := range o.numbers[i] {
		for n := r.first; n <= r.last; n += r.step {
			if !o.extend(appendPadded(name, n, r.width), i+1, yield) {
				return false
			}
		}
	}
	return true
}

// appendPadded appends a number with at least width digits.
func appendPadded(name []byte, n uint64, width int) []byte {
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], n, 10)
	for range width - len(text) {
		name = append(name, '0')
	}
	return append(name, text...)
}

// set is a set of hosts in order. Removed hosts are empty names.
type set struct {
	names []string
	index map[string]int
}

// apply applies an operator. It returns a duplicate host, or an empty string.
func (s *set) apply(op byte, o *operand) (duplicate string) {
	right := map[string]bool{}
	if op == ',' && len(s.names) == 0 {
		s.names, s.index = make([]string, 0, o.size()), make(map[string]int, o.size())
	}
	for name := range o.names {
		_, left := s.index[name]
		switch {
		case op == ',' && left, op == '^' && right[name]:
			return name
		case op == ',', op == '^' && !left:
			s.add(name)
		case op == '!', op == '^':
			s.remove(name)
		}
		if op == '&' || op == '^' {
			right[name] = true
		}
	}
	if op == '&' {
		for _, name := range s.names {
			if name != "" && !right[name] {
				s.remove(name)
			}
		}
	}
	return ""
}

func (s *set) add(name string) {
	s.index[name] = len(s.names)
	s.names = append(s.names, name)
}

func (s *set) remove(name string) {
	if i, ok := s.index[name]; ok {
		s.names[i] = ""
		delete(s.index, name)
	}
}

func (s *set) hosts() []string {
	return slices.DeleteFunc(s.names, func(name string) bool { return name == "" })
}

// parser reads a text from pos.
type parser struct {
	text string
	pos  int
}

func (p *parser) fail(pos int, format string, values ...any) error {
	return &SyntaxError{p.text, pos, fmt.Sprintf(format, values...)}
}

// unexpected returns the error for an unexpected character at pos.
func (p *parser) unexpected(want string) error {
	if p.pos == len(p.text) {
		return p.fail(p.pos, "%s", want)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	switch r {
	case '@':
		return p.fail(p.pos, `"@": groups of hosts are not supported`)
	case '*', '?':
		return p.fail(p.pos, "%q: wildcards are not supported", r)
	}
	return p.fail(p.pos, "%s, not %q", want, string(r))
}

// skipSpace skips spaces and newlines, and returns the position.
func (p *parser) skipSpace() int {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	return p.pos
}

func (p *parser) operand() (*operand, error) {
	begin := p.pos
	if p.pos < len(p.text) && strings.IndexByte("-.@%", p.text[p.pos]) >= 0 {
		return nil, p.unexpected("a host name starts with a letter or a digit")
	}
	o := new(operand)
	for {
		from := p.pos
		for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
			p.pos++
		}
		o.literals = append(o.literals, p.text[from:p.pos])
		if p.pos == len(p.text) || p.text[p.pos] != '[' {
			break
		}
		p.pos++
		runs, err := p.ranges()
		if err != nil {
			return nil, err
		}
		o.numbers = append(o.numbers, runs)
	}
	if p.pos == begin {
		return nil, p.unexpected("want a host")
	}
	if o.longest() > maxName {
		return nil, p.fail(begin, "a host name has at most %d characters", maxName)
	}
	return o, nil
}

// isNameByte reports whether c is valid in a host name: in a DNS name, user@host, or an address with a port or zone. No
// shell treats these characters specially.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || strings.IndexByte("-._:@%+", c) >= 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ranges reads the ranges in brackets and the closing bracket.
func (p *parser) ranges() (runs []run, err error) {
	for {
		r, err := p.run()
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
		if p.pos == len(p.text) || strings.IndexByte(",]", p.text[p.pos]) < 0 {
			return nil, p.unexpected(`want "," or "]"`)
		}
		p.pos++
		if p.text[p.pos-1] == ']' {
			return runs, nil
		}
	}
}

func (p *parser) run() (r run, err error) {
	first, n, err := p.number()
	if err != nil {
		return r, err
	}
	r = run{n, n, 1, len(first)}
	if !p.accept('-') {
		return r, nil
	}
	at := p.pos
	last, n, err := p.number()
	if err != nil {
		return r, err
	}
	switch {
	case n < r.first:
		return r, p.fail(at, "%s comes before %s", last, first)
	case len(last) > 1 && last[0] == '0' && len(first) != len(last):
		return r, p.fail(at, "%s and %s are padded to different widths", first, last)
	}
	r.last = n
	if !p.accept('/') {
		return r, nil
	}
	at = p.pos
	if _, r.step, err = p.number(); err == nil && r.step == 0 {
		err = p.fail(at, "step 0")
	}
	return r, err
}

// accept skips c, and reports whether it was next.
func (p *parser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) number() (digits string, n uint64, err error) {
	from := p.pos
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		n = n*10 + uint64(p.text[p.pos]-'0') // overflows only if it is too long
		p.pos++
	}
	switch digits = p.text[from:p.pos]; {
	case digits == "":
		return "", 0, p.unexpected("want a number")
	case len(digits) > maxDigits:
		return "", 0, p.fail(from, "a number has at most %d digits", maxDigits)
	}
	return digits, n, nil
}
