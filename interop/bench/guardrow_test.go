package bench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// guardRow is the result of a case of the guard.
type guardRow struct {
	name string
	// share is the share of the bound, and copies the most copies that entered a cluster or a rack.
	share, copies float64
	// ratio is the share divided by the one of the clean case. The ratio of the clean case is its share.
	ratio float64
}

// addGuardRow appends a row to the rows of a pass, where the clean case is the first, and sets its
// ratio.
func addGuardRow(rows []guardRow, r guardRow) []guardRow {
	r.ratio = r.share
	if len(rows) > 0 {
		r.ratio /= rows[0].share
	}
	return append(rows, r)
}

const (
	guardTolerance = 0.05 // the most that a ratio may be below the accepted one
	cleanTolerance = 0.15 // the same for the share of the clean case, which is lower on a slower machine
	guardCopies    = 1.07 // the most copies that may enter a cluster or a rack, unless more are accepted
	copiesSpread   = 0.02 // the most that copies may exceed an accepted number above guardCopies
)

// cleanCase is the name of the first case, which the other ones are compared with.
const cleanCase = "clean"

// check returns an error if the row is worse than the accepted one permits. A ratio that is not a
// number is one of a case without a share, beside a clean case without a share.
func (r guardRow) check(accepted guardRow) error {
	var errs []error
	least := accepted.ratio - guardTolerance
	if r.name == cleanCase {
		least = accepted.ratio - cleanTolerance
	}
	if r.ratio < least || math.IsNaN(r.ratio) {
		errs = append(errs, fmt.Errorf("%s: ratio %.3f, must be at least %.3f", r.name, r.ratio, least))
	}
	most := guardCopies
	if accepted.copies > guardCopies {
		most = accepted.copies + copiesSpread
	}
	if r.copies > most {
		errs = append(errs, fmt.Errorf("%s: %.3f copies, must be at most %.3f", r.name, r.copies, most))
	}
	return errors.Join(errs...)
}

// checkTwice runs a pass over the named cases, the clean one first. If some miss, it runs a second
// pass over the clean case and these. It returns an error if a case misses in both.
func checkTwice(names []string, accepted map[string]guardRow, pass func(names []string) []guardRow) error {
	missed := map[string]bool{}
	for _, r := range pass(names) {
		if r.check(accepted[r.name]) != nil {
			missed[r.name] = true
		}
	}
	if len(missed) == 0 {
		return nil
	}
	again := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != names[0] && !missed[n] })
	var errs []error
	for _, r := range pass(again) {
		if missed[r.name] {
			errs = append(errs, r.check(accepted[r.name]))
		}
	}
	return errors.Join(errs...)
}

// guardHead is the first line of the file of accepted rows.
const guardHead = "case\tof bound\tcopies\tratio\n"

// writeGuard formats accepted rows.
func writeGuard(rows []guardRow) string {
	text := guardHead
	for _, r := range rows {
		text += fmt.Sprintf("%s\t%.3f\t%.3f\t%.3f\n", r.name, r.share, r.copies, r.ratio)
	}
	return text
}

// parseGuard parses what writeGuard formats.
func parseGuard(text string) (map[string]guardRow, error) {
	lines, ok := strings.CutPrefix(text, guardHead)
	if !ok {
		return nil, fmt.Errorf("the first line is not %q", guardHead)
	}
	rows := map[string]guardRow{}
	for line := range strings.Lines(lines) {
		name, numbers, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		var v []float64
		for text := range strings.SplitSeq(numbers, "\t") {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("line %q: %w", line, err)
			}
			v = append(v, n)
		}
		if _, twice := rows[name]; twice || len(v) != 3 {
			return nil, fmt.Errorf("line %q: must be a new case and three numbers", line)
		}
		rows[name] = guardRow{name: name, share: v[0], copies: v[1], ratio: v[2]}
	}
	return rows, nil
}

// guardMedians returns for each case the medians of three passes.
func guardMedians(passes [3][]guardRow) (rows []guardRow) {
	for i, r := range passes[0] {
		median := func(of func(guardRow) float64) float64 {
			v := []float64{of(passes[0][i]), of(passes[1][i]), of(passes[2][i])}
			slices.Sort(v)
			return v[1]
		}
		rows = append(rows, guardRow{
			name:   r.name,
			share:  median(func(r guardRow) float64 { return r.share }),
			copies: median(func(r guardRow) float64 { return r.copies }),
			ratio:  median(func(r guardRow) float64 { return r.ratio }),
		})
	}
	return rows
}

func TestGuardRowCheck(t *testing.T) {
	accepted := guardRow{share: 0.8, copies: 1.02, ratio: 0.95}
	wasteful := guardRow{name: "x", copies: 1.08, ratio: 0.95}
	for name, c := range map[string]struct {
		row  guardRow
		want string
	}{
		"as accepted":       {accepted, ""},
		"within tolerance":  {guardRow{copies: 1.069, ratio: 0.901}, ""},
		"better":            {guardRow{copies: 1, ratio: 1.2}, ""},
		"slower":            {guardRow{copies: 1.02, ratio: 0.899}, "x: ratio 0.899, must be at least 0.900"},
		"more copies":       {guardRow{copies: 1.071, ratio: 0.95}, "x: 1.071 copies, must be at most 1.070"},
		"slower and copies": {guardRow{copies: 2, ratio: 0}, "x: ratio 0.000, must be at least 0.900\nx: 2.000 copies, must be at most 1.070"},
		"both failed":       {guardRow{ratio: math.NaN()}, "x: ratio NaN, must be at least 0.900"},
	} {
		c.row.name = "x"
		got := ""
		if err := c.row.check(accepted); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	more := wasteful
	more.copies += copiesSpread + 0.001
	if wasteful.check(wasteful) != nil || more.check(wasteful) == nil {
		t.Errorf("accepted %v: %v; and %v with one part in a thousand more than permitted", wasteful, wasteful.check(wasteful), more.check(wasteful))
	}
}

func TestGuardRatio(t *testing.T) {
	rows := addGuardRow(nil, guardRow{name: "clean", share: 0.8})
	rows = addGuardRow(rows, guardRow{name: "slow", share: 0.6})
	if rows[0].ratio != 0.8 || !near(rows[1].ratio, 0.75) {
		t.Errorf("%+v", rows)
	}
}

// TestGuardCheckTwice compares the cases of each pass, and the error, for given ratios.
func TestGuardCheckTwice(t *testing.T) {
	accepted := map[string]guardRow{"clean": {ratio: 0.9}, "a": {ratio: 1}, "b": {ratio: 1}}
	type ratios map[string]float64
	for name, c := range map[string]struct {
		first, second ratios
		again         []string // the cases of the second pass
		want          string
	}{
		"none misses":      {first: ratios{"clean": 0.9, "a": 1, "b": 1}},
		"one misses once":  {ratios{"clean": 0.9, "a": 1, "b": 0.9}, ratios{"clean": 0.9, "b": 1}, []string{"clean", "b"}, ""},
		"one misses twice": {ratios{"clean": 0.9, "a": 0.5, "b": 1}, ratios{"clean": 0.9, "a": 0.6}, []string{"clean", "a"}, "a: ratio 0.600, must be at least 0.950"},
		"the clean case misses the second time only": {ratios{"clean": 0.9, "a": 0.5, "b": 1}, ratios{"clean": 0.5, "a": 1}, []string{"clean", "a"}, ""},
		"the clean case misses twice":                {ratios{"clean": 0.5, "a": 1, "b": 1}, ratios{"clean": 0.6}, []string{"clean"}, "clean: ratio 0.600, must be at least 0.750"},
	} {
		var passes [][]string
		err := checkTwice([]string{"clean", "a", "b"}, accepted, func(names []string) (rows []guardRow) {
			passes = append(passes, names)
			for _, n := range names {
				rows = append(rows, guardRow{name: n, ratio: []ratios{c.first, c.second}[len(passes)-1][n]})
			}
			return rows
		})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: error %q, want %q", name, got, c.want)
		}
		if again := slices.Concat(passes[1:]...); !slices.Equal(again, c.again) {
			t.Errorf("%s: second pass over %q, want %q", name, again, c.again)
		}
	}
}

func TestGuardFileFormat(t *testing.T) {
	rows := []guardRow{{name: "clean", share: 0.85, copies: 1.03, ratio: 0.85}, {name: "10% killed", share: 0.8, copies: 1, ratio: 0.941}}
	text := writeGuard(rows)
	got, err := parseGuard(text)
	if err != nil || !maps.Equal(got, map[string]guardRow{"clean": rows[0], "10% killed": rows[1]}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, wrong := range []string{"", "clean\t1\t1\t1\n", text + "clean\t1\t1\t1\n", text + "x\t1\t1\n", text + "x\t1\t1\t1\t1\n", text + "x\t1\tone\t1\n", text + "\n"} {
		if got, err := parseGuard(wrong); err == nil {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}

func TestGuardMedians(t *testing.T) {
	pass := func(share, copies float64) []guardRow {
		return addGuardRow(addGuardRow(nil, guardRow{name: "clean", share: 0.5}), guardRow{name: "a", share: share, copies: copies})
	}
	want := guardRow{name: "a", share: 0.4, copies: 1.02, ratio: 0.8}
	if got := guardMedians([3][]guardRow{pass(0.5, 1), pass(0.4, 1.02), pass(0.1, 1.5)}); len(got) != 2 || got[1] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
