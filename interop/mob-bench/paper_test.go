package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/operations"
)

// TestPaperCommands checks that the commands of all cases of papers parse, with their systems.
func TestPaperCommands(t *testing.T) {
	cases, _ := bench.PaperTable()
	for _, c := range append(bench.Calibration(), cases...) {
		for _, line := range c.Commands {
			words := strings.Fields(line)
			var err error
			switch words[0] {
			case "collective":
				name := strings.TrimPrefix(line, "collective ")
				if !slices.ContainsFunc(operations.Operations(), func(o operations.Operation) bool { return o.Name == name }) {
					err = errors.New("unknown operation")
				}
			case "planners":
				var p plannersFlags
				if err = parse(p.add, words); err == nil {
					_, err = p.cases()
				}
			default:
				err = checkCommand(&c, words)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", c.Name, line, err)
			}
		}
	}
}

func checkCommand(c *bench.PaperCase, words []string) error {
	s, err := parseCase(words)
	if err != nil {
		return err
	}
	if len(s.rounds.strategies) > 0 {
		_, err := s.rounds.cases()
		return err
	}
	if _, err := (&paperFlags{quick: true}).benchCase(&s.commonFlags, c, 4); err != nil {
		return err
	}
	if words[0] == "grid" {
		_, err = parseSystems(s.systems)
	}
	return err
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
