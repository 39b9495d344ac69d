package term

// State is a [Progress] of work on a part of a whole.
type State struct {
	Name      string
	Facts     string // beside the bar; without facts there is no bar
	Part, All int64
	Notes     []string // below the bar
	Text      string   // the line without a terminal, after the name
	At        any      // see [Progress.Position]

	Reason, Remedy string // see [Progress.Waiting]
}

// Picture implements [Frame].
func (s State) Picture(width int) []string {
	lines := []string{s.Name}
	if s.Facts != "" {
		lines = append(lines, "  "+BarBeside(" "+s.Facts, s.Part, s.All, width))
	}
	for _, n := range s.Notes {
		lines = append(lines, Indent(n, width)...)
	}
	return lines
}

// Line implements [Frame].
func (s State) Line() string { return s.Name + ": " + s.Text }

// Position implements [Progress].
func (s State) Position() any { return s.At }

// Waiting implements [Progress].
func (s State) Waiting() (reason, remedy string) { return s.Reason, s.Remedy }
