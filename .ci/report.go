// Command report reads what `go test -json` prints, from standard input, and
// prints a summary: a line for each package, all of what
// failed, and at the end the slowest tests, and what was skipped and why. It fails when a test did, or when there was none.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

// test names a test, or with an empty name its package.
type test struct{ pkg, name string }

// report contains the results that were read so far.
type report struct {
	out    io.Writer
	output map[test][]string   // of tests that have not ended
	skips  map[string][]string // tests by why they were skipped
	took   map[test]float64    // seconds

	passed, failed, skipped int
}

func main() {
	r := &report{out: os.Stdout, output: map[test][]string{}, skips: map[string][]string{}, took: map[test]float64{}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				os.Stdout.Write(line) // not of a test
			} else {
				r.take(e)
			}
		}
		if err != nil {
			break
		}
	}
	r.end()
	if r.failed > 0 || r.passed == 0 {
		os.Exit(1)
	}
}

func (r *report) take(e event) {
	t := test{e.Package, e.Test}
	if e.Test != "" && !strings.Contains(e.Test, "/") {
		r.took[t] = max(r.took[t], e.Elapsed)
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if e.Test == "" {
			if strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t") {
				fmt.Fprint(r.out, e.Output)
				return
			}
		}
		r.output[t] = append(r.output[t], e.Output)
	case "pass":
		if e.Test != "" {
			r.passed++
		}
		delete(r.output, t)
	case "skip":
		if e.Test != "" {
			r.skipped++
			why := reason(r.output[t])
			r.skips[why] = append(r.skips[why], short(e.Package)+"."+e.Test)
		}
		delete(r.output, t)
	case "fail":
		if e.Test != "" {
			r.failed++
			r.dump(t)
			return
		}
		r.failedPackage(e.Package)
	}
}

// failedPackage prints what tests of a package printed that never ended, and
// what the package printed itself. A package that failed without a test that did
// counts as one.
func (r *report) failedPackage(pkg string) {
	for t := range r.output {
		if t.pkg == pkg && t.name != "" {
			r.failed++
			r.dump(t)
		}
	}
	r.dump(test{pkg, ""})
	r.failed = max(r.failed, 1)
}

func (r *report) dump(t test) {
	for _, line := range r.output[t] {
		if !strings.HasPrefix(line, "=== ") && line != "PASS\n" {
			fmt.Fprint(r.out, line)
		}
	}
	delete(r.output, t)
}

// reason returns the last line that a test logged before it was skipped, without the place.
func reason(output []string) string {
	last := "no reason given"
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if place, text, ok := strings.Cut(line, ": "); ok && strings.Contains(place, ".go:") {
			line = text
		}
		last = line
	}
	return last
}

func short(pkg string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pkg, "github.com/mobgrid/mob"), "/")
}

// slowest is the number of tests whose times are printed.
const slowest = 10

func (r *report) end() {
	tests := slices.SortedFunc(maps.Keys(r.took), func(a, b test) int { return cmp.Compare(r.took[b], r.took[a]) })
	fmt.Fprintln(r.out, "\nslowest:")
	for _, t := range tests[:min(slowest, len(tests))] {
		fmt.Fprintf(r.out, "  %6.1f s  %s.%s\n", r.took[t], short(t.pkg), t.name)
	}
	if r.skipped > 0 {
		fmt.Fprintln(r.out, "\nskipped:")
	}
	for _, why := range slices.Sorted(maps.Keys(r.skips)) {
		fmt.Fprintf(r.out, "  %s\n    %s\n", why, strings.Join(r.skips[why], "\n    "))
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
}
