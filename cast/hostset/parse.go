package hostset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxHosts is how many names the operands of a set may have in total.
	MaxHosts = 2_000_000
	// maxName is how long a name may be: a host name of DNS (RFC 1035, section 2.3.4), and
	// something for a user in front of it.
	maxName = 320
	// maxDigits is how long a number may be in brackets. Longer ones in a name are text.
	maxDigits = 17
)

// SyntaxError says what is wrong with a host set, and where.
type SyntaxError struct {
	Text    string
	Pos     int // offset in Text, in bytes
	Problem string
}

// Error implements error. It counts positions from one.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, position %d: %s", excerpt(e.Text, e.Pos), e.Pos+1, e.Problem)
}

// excerpt quotes a text, or what is around pos if it is long.
func excerpt(text string, pos int) string {
	const around = 30
	from, to := max(0, pos-around), min(len(text), pos+around)
	if len(text) <= 2*around {
		from, to = 0, len(text)
	}
	quoted := strconv.Quote(text[from:to])
	if from > 0 {
		quoted = "..." + quoted
	}
	if to < len(text) {
		quoted += "..."
	}
	return quoted
}

// Parse returns the hosts of a set, in the order of the text. That may be none at all after
// an operator. Errors are of type [*SyntaxError]. A host twice in a union is one.
func Parse(text string) ([]string, error) { return parse(text, MaxHosts) }

func parse(text string, limit uint64) ([]string, error) {
	p := &parser{text: text}
	s := new(set)
	total := uint64(0)
	for op := byte(','); ; {
		at := p.skipBlanks()
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		if total += o.size(); total > limit {
			return nil, p.fail(at, "more than %d hosts", limit)
		}
		if twice := s.apply(op, o); twice != "" {
			return nil, p.fail(at, "%s is there twice", twice)
		}
		if p.skipBlanks(); p.pos == len(text) {
			return s.hosts(), nil
		}
		if op = text[p.pos]; strings.IndexByte(",!&^", op) < 0 {
			return nil, p.unexpected(`want "," between hosts`)
		}
		p.pos++
	}
}

// operand is one pattern of a set: literals, with a list of numbers after each but the last.
type operand struct {
	literals []string
	numbers  [][]run
}

// run is the numbers of a range, padded to a width.
type run struct {
	first, last, step uint64
	width             int
}

func (r run) size() uint64 { return (r.last-r.first)/r.step + 1 }

// size returns the number of names, or one above MaxHosts if there are more.
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

// each calls f with the names in order until it returns false.
func (o *operand) each(f func(string) bool) {
	o.extend(nil, 0, f)
}

// extend calls f with the names that begin with name and go on with the literal i.
func (o *operand) extend(name []byte, i int, f func(string) bool) bool {
	name = append(name, o.literals[i]...)
	if i == len(o.numbers) {
		return f(string(name))
	}
	for _, r := range o.numbers[i] {
		for n := r.first; n <= r.last; n += r.step {
			if !o.extend(appendPadded(name, n, r.width), i+1, f) {
				return false
			}
		}
	}
	return true
}

// appendPadded appends n with zeros in front up to a width, which is at most maxDigits.
func appendPadded(b []byte, n uint64, width int) []byte {
	const zeros = "00000000000000000"
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], n, 10)
	if short := width - len(d); short > 0 {
		b = append(b, zeros[:short]...)
	}
	return append(b, d...)
}

// set is the hosts so far, in order. Removed ones are empty.
type set struct {
	names []string
	index map[string]int
}

// apply takes an operand into the set. It returns a host that is there twice, if so.
func (s *set) apply(op byte, o *operand) (twice string) {
	switch op {
	case ',':
		s.grow(o)
		before := len(s.index)
		o.each(func(name string) bool {
			if s.add(name); len(s.index) == before {
				twice = name
				return false
			}
			before++
			return true
		})
	case '!':
		o.each(func(name string) bool {
			s.remove(name)
			return true
		})
	case '&':
		both := &set{index: map[string]int{}}
		right := map[string]bool{}
		o.each(func(name string) bool {
			right[name] = true
			return true
		})
		for _, name := range s.names {
			if right[name] {
				both.add(name)
			}
		}
		*s = *both
	case '^':
		right := map[string]bool{}
		o.each(func(name string) bool {
			if right[name] {
				twice = name
				return false
			}
			right[name] = true
			if _, ok := s.index[name]; ok {
				s.remove(name)
			} else {
				s.add(name)
			}
			return true
		})
	}
	return twice
}

// grow makes room for an operand.
func (s *set) grow(o *operand) {
	if s.index == nil {
		s.index = make(map[string]int, o.size())
	}
	s.names = slices.Grow(s.names, int(o.size()))
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
	if len(s.index) == len(s.names) {
		return s.names
	}
	hosts := make([]string, 0, len(s.index))
	for _, name := range s.names {
		if name != "" {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

// parser reads a text from pos on.
type parser struct {
	text string
	pos  int
}

func (p *parser) fail(pos int, format string, values ...any) error {
	return &SyntaxError{p.text, pos, fmt.Sprintf(format, values...)}
}

// unexpected is the error that something else is wanted at pos.
func (p *parser) unexpected(want string) error {
	if p.pos == len(p.text) {
		return p.fail(p.pos, "%s", want)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	switch r {
	case '@':
		return p.fail(p.pos, `"@" is not for groups of hosts: there are none`)
	case '*', '?':
		return p.fail(p.pos, "%q: there are no wildcards", r)
	}
	return p.fail(p.pos, "%s, not %q", want, string(r))
}

// skipBlanks returns the position after them.
func (p *parser) skipBlanks() int {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	return p.pos
}

// operand reads a pattern.
func (p *parser) operand() (*operand, error) {
	begin := p.pos
	if p.pos < len(p.text) && strings.IndexByte("-.@%", p.text[p.pos]) >= 0 {
		return nil, p.unexpected("a host name begins with a letter or a digit")
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

// isNameByte says whether a host name may have c: what is in DNS names, user@host, addresses
// with ports and zones. A shell takes none of it for something else.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || strings.IndexByte("-._:@%+", c) >= 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ranges reads what is in brackets, with the closing one.
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

// run reads a range.
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
		err = p.fail(at, "a step of 0")
	}
	return r, err
}

// accept reads c, if it comes next.
func (p *parser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// number reads a number.
func (p *parser) number() (digits string, n uint64, err error) {
	from := p.pos
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		n = n*10 + uint64(p.text[p.pos]-'0') // of no use if it is too long
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
