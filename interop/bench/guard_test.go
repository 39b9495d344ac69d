package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

var runGuard = flag.Bool("guard", false, "run TestGuard; with -update, write the medians of three passes as the accepted results")

const (
	guardFile = "testdata/guard.tsv"
	// guardSize is the size of the content on the links of scenario fast, in bytes: 12 s at the bound.
	guardSize = 144e6
	// guardLimit is the longest time that a run of a case may take.
	guardLimit = 40 * time.Second
)

// guardCase is a case of the guard and the system that runs it.
type guardCase struct {
	name   string
	c      Case
	system Mob
}

// guardCases lists the cases of the guard, the clean case first.
func guardCases(t testing.TB) []guardCase {
	t.Helper()
	onGrid := func(name, clusters string, size int64, change func(c *Case)) guardCase {
		c := testCase(t, clusters, size)
		change(&c)
		return guardCase{name: name, c: c}
	}
	onFast := func(name string, change func(c *Case)) guardCase { return onGrid(name, "4x4", guardSize, change) }
	member := func(nic netns.Rate) func(c *Case) {
		return func(c *Case) { c.Clusters[2].SlowNIC = map[int]netns.Rate{2: nic} }
	}
	divided := func(c *Case, by float64) {
		links := netns.Fast().Divided(by).Among(c.Names()...)
		if err := c.SetScenario(steady, &links); err != nil {
			t.Fatal(err)
		}
	}
	// At half the rates two cores are not the limit where coded blocks, or lost segments, take much processor time.
	halved := func(name string, change func(c *Case)) guardCase {
		return onGrid(name, "4x4", guardSize/2, func(c *Case) {
			divided(c, 2)
			change(c)
		})
	}
	seeded := func(g guardCase) guardCase {
		g.system.Options = []string{g.name}
		return g
	}
	claimer := onFast("claimer", member(100*netns.MBps)) // a SlowNIC, so that the run does not wait for C2
	claimer.system.Instead = map[string][]string{"C2": {"faulty", "--fault", "claimer"}}
	return []guardCase{
		onFast(cleanCase, func(*Case) {}),
		onFast("slow member", member(0.5*netns.MBps)),
		onFast("10% killed", func(c *Case) { c.Kills = Kills{Percent: 10, After: 5 * time.Second} }),
		claimer,
		halved("60 ms, 0.5% loss", func(c *Case) { c.RTT, c.Loss = 60*time.Millisecond, 0.005 }),
		onGrid("links / 16", "4x4", 12e6, func(c *Case) { divided(c, 16) }),
		onGrid("racks", "2x(2x4)", 40e6, func(c *Case) {
			for i := range c.Clusters {
				c.Clusters[i].Uplink = 12.5 * netns.MBps
			}
		}),
		seeded(onFast(PlanOption+"balanced", func(*Case) {})),
		seeded(halved("coded=16", func(*Case) {})),
	}
}

// TestGuard compares the cases with the clean case of the same pass, and these ratios with the
// accepted ones.
func TestGuard(t *testing.T) {
	if !*runGuard {
		t.Skip("takes minutes: see make guard")
	}
	needsNamespaces(t)
	cases := guardCases(t)
	accepted := acceptedRows(t)
	pass := func(names []string) (rows []guardRow) {
		fmt.Printf("%-18s of bound  accepted    copies  accepted     ratio  accepted\n", "")
		for _, g := range cases {
			if !slices.Contains(names, g.name) {
				continue
			}
			rows = addGuardRow(rows, g.run(t))
			r, a := rows[len(rows)-1], accepted[g.name]
			fmt.Printf("%-18s %8.3f  %8.3f  %8.3f  %8.3f  %8.3f  %8.3f\n", r.name, r.share, a.share, r.copies, a.copies, r.ratio, a.ratio)
		}
		return rows
	}
	var names []string
	for _, g := range cases {
		names = append(names, g.name)
	}
	if !*update {
		if err := checkTwice(names, accepted, pass); err != nil {
			t.Error(err)
		}
		return
	}
	text := writeGuard(guardMedians([3][]guardRow{pass(names), pass(names), pass(names)}))
	if err := os.WriteFile(guardFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func acceptedRows(t *testing.T) map[string]guardRow {
	t.Helper()
	text, err := os.ReadFile(guardFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parseGuard(string(text))
	if err != nil {
		t.Fatalf("%s: %v", guardFile, err)
	}
	return rows
}

// TestGuardFile checks that each case has an accepted row, and nothing else has.
func TestGuardFile(t *testing.T) {
	rows := acceptedRows(t)
	for _, g := range guardCases(t) {
		if _, ok := rows[g.name]; !ok {
			t.Errorf("%s has no case %q", guardFile, g.name)
		}
		delete(rows, g.name)
	}
	for name := range rows {
		t.Errorf("%s has case %q, which the guard does not run", guardFile, name)
	}
}

// run runs the case. A run that fails has no share of the bound.
func (g guardCase) run(t *testing.T) guardRow {
	t.Helper()
	g.system.Bin = faultyBin(t)
	b := newBench(t, g.c)
	ctx, cancel := context.WithTimeoutCause(t.Context(), guardLimit, fmt.Errorf("not done in %v", guardLimit))
	defer cancel()
	r := b.NewReport()
	r.Add(g.name, b.Run(ctx, g.system))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	run := r.Results[0].Median()
	if run.Error != "" {
		fmt.Printf("%s: %s\n", g.name, run.Error)
	}
	if run.Intact != run.Copied {
		t.Errorf("%s: %d of %d copies are damaged", g.name, run.Copied-run.Intact, run.Copied)
	}
	row := guardRow{name: g.name, share: r.Results[0].Share}
	for _, c := range append(run.Copies, run.RackCopies...) {
		row.copies = max(row.copies, c.Copies)
	}
	return row
}
