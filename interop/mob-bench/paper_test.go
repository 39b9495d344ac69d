package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/operations"
)

// TestPaperCommands checks that the command of each case of the papers parses, with their systems.
func TestPaperCommands(t *testing.T) {
	for _, c := range bench.PaperCases(bench.PaperNames()...) {
		if err := checkCommand(&c); err != nil {
			t.Errorf("%s: %s: %v", c.Name, c.Command, err)
		}
	}
}

func checkCommand(c *bench.PaperCase) error {
	if name, ok := strings.CutPrefix(c.Command, "collective "); ok {
		if !slices.ContainsFunc(operations.Operations(), func(o operations.Operation) bool { return o.Name == name }) {
			return errors.New("unknown operation")
		}
		return nil
	}
	p, err := parsePaperCommand(c.Command)
	switch {
	case err != nil:
	case p.name == "planners":
		_, err = p.planners.cases()
	case p.name == "rounds":
		_, err = p.rounds.cases()
	default:
		_, err = parseSystems(p.transfer.systems)
		_, failed := new(paperFlags).benchCase(&p.transfer, c, 4)
		err = errors.Join(err, failed)
	}
	return err
}

// TestQuickTime checks that the grids of --quick take at most six minutes, if each run takes four seconds and the time of
// the bound, and a collective operation ten seconds. Simulations take a minute in total.
func TestQuickTime(t *testing.T) {
	const limit = 6 * time.Minute
	total := time.Duration(0)
	for _, c := range bench.PaperCases(bench.PaperNames()...) {
		if c.Quick == "" {
			continue
		}
		took := time.Duration(0)
		if strings.HasPrefix(c.Command, "collective ") {
			took = 10 * time.Second
		} else if strings.HasPrefix(c.Command, "grid ") {
			p, err := parsePaperCommand(c.Command)
			if err != nil {
				t.Fatal(err)
			}
			bc, err := (&paperFlags{quick: true}).benchCase(&p.transfer, &c, 4)
			if err != nil {
				t.Fatal(err)
			}
			took = time.Duration(len(p.transfer.systems)) * (bc.Ideal() + 4*time.Second)
		}
		total += took
		t.Logf("%s: %.0f s", c.Name, took.Seconds())
	}
	if total > limit {
		t.Errorf("%v, and at most %v expected", total, limit)
	}
}

// TestQuickEnds checks that no case starts after the time of --quick, and that the report has the reasons of all rows.
func TestQuickEnds(t *testing.T) {
	f := &paperFlags{quick: true, out: t.TempDir()}
	r := &bench.PaperReport{Papers: bench.PaperNames(), Scale: 4, Results: map[string]*bench.Report{}}
	var out strings.Builder
	a := &command.App{Env: &command.Env{Out: &out, Err: &out, Getenv: func(string) string { return "" }}}
	if err := f.run(t.Context(), a, r, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(f.out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| fast: mob / aria2 | - | - | - | no time was left with --quick | - | - | - |", "| 7b: stable / best other | 2.35 | - | - | not with --quick | - | - | - |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(string(text), "| not run |") || strings.Contains(out.String(), "case ") {
		t.Errorf("a row without a reason, or a case that ran: %s", out.String())
	}
}

// TestParseScale checks scales and what is not one.
func TestParseScale(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "1/4": 4, "1/64": 64, "4": 0, "1/0": 0, "1/65": 0, "1/4/": 0, "/4": 0, "": 0, "14": 0} {
		got, err := parseScale(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
