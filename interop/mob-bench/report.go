package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/operations"
)

const reportHelp = `Prints BENCHMARKS.md from runs of mob-bench grid: it reads files with their output of
--json, one run after the other. Without a file it lists the commands of all cases.

Of several results of a case the last one counts. A case is current while no code that it
measures has changed since its commit: run the command in the repository.

Exit status: 0 done; 1 a file cannot be used; 2 usage error.`

const reportExample = `  sudo bin/mob-bench grid --repeat 3 --json >>docs/results.json
  mob-bench report docs/results.json >BENCHMARKS.md`

func newReport(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "report [FILE...]", Short: "Print a table of all cases from result files", Long: reportHelp, Example: reportExample,
		Args: cobra.ArbitraryArgs,
		Run: func(_ context.Context, a *command.App, files []string) error {
			cases, err := benchmarkCases()
			if err != nil {
				return err
			}
			if len(files) == 0 {
				var last string
				for _, c := range cases {
					if line := c.command(); line != last {
						fmt.Fprintln(a.Out, line)
						last = line
					}
				}
				return nil
			}
			var all []*bench.Report
			for _, name := range files {
				read, err := readReports(name)
				if err != nil {
					return err
				}
				all = append(all, read...)
			}
			return writeBenchmarks(a.Out, cases, all)
		},
	})
}

func readReports(name string) ([]*bench.Report, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := bench.ReadReports(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// benchmark is a case with its target.
type benchmark struct {
	name string
	// system is the system that the case is about.
	system string
	// args are flags of mob-bench grid. Without any the case is one of another program, and its results
	// are those whose case is the name.
	args string
	// unit is the unit of the value: "of bound", "s" for the time of the last node, "GB/s", or "x aria2" for
	// the CPU time per GB relative to aria2's. The value must be at least the target, or at most if it is
	// seconds or CPU time. Zero means no target.
	unit   string
	target float64
	// copies is the most copies that may enter a cluster or a rack; zero if there is no limit.
	copies float64

	key string // of its reports
}

func (b *benchmark) command() string {
	if b.args == "" && b.unit == "s" {
		return "mob-bench collective --repeat 3"
	}
	if b.args == "" && b.unit == "GB/s" {
		return "MOB_RESULTS=$PWD/docs/results.json go test -run '^$' -bench Pair -benchtime 1x -count 3 ./interop/bench"
	}
	return "mob-bench grid --repeat 3 " + strings.ReplaceAll(b.args, "2x(2x4)", "'2x(2x4)'")
}

// benchmarkCases lists the cases, with the keys of their reports.
func benchmarkCases() ([]*benchmark, error) {
	const (
		of           = "of bound"
		stockClients = "aria2,libtorrent,transmission,rtorrent"
		five         = "--systems mob," + stockClients + " --size 120MB"
	)
	all := []*benchmark{
		{name: "4x4 fast, 240 MB", args: "--scenario fast", unit: of, target: 0.90, copies: 1.04},
		{name: "a member at 0.5 MB/s", args: "--slow-node C2=0.5MB", unit: of, target: 0.885, copies: 1.04},
		{name: "slow", args: "--scenario slow", unit: of, target: 0.908, copies: 1.04},
		{name: "fast-slow", args: "--scenario fast-slow", unit: of, target: 0.886, copies: 1.04},
		{name: "slow-fast", args: "--scenario slow-fast", unit: of, target: 0.911, copies: 1.04},
		{name: "mayhem", args: "--scenario mayhem", unit: of, target: 0.913, copies: 1.04},
		{name: "10 % killed", args: "--kill 10%@5s+2s", unit: of, target: 0.883},
		{name: "100 ms round trip", args: "--rtt 100ms", unit: of, target: 0.828},
		{name: "60 ms, 0.5 % loss", args: "--size 120MB --rtt 60ms --loss 0.5%", unit: of, target: 0.768},
		{name: "4, 12, 16, 32 nodes", args: "--clusters 4,12,16,32 --size 120MB", unit: of, target: 0.38, copies: 1.06},
		{name: "racks, 120 MB", args: "--clusters 2x(2x4) --rack-uplink 12.5MB --size 120MB", unit: of, target: 0.93, copies: 1.04},
		{name: "racks, 40 MB", args: "--clusters 2x(2x4) --rack-uplink 12.5MB --size 40MB", unit: of, target: 0.91, copies: 1.07},
		{name: "plan", system: "mob:plan=balanced", args: "--systems mob:plan=balanced", unit: of},
		{name: "coded", system: "mob:coded", args: "--systems mob:coded", unit: of, target: 0.817},
		{name: "permutation", system: "mob:strategy=permutation", args: "--systems mob:strategy=permutation --clusters 20 --nic 1.875MB --size 100MB", unit: of, target: 0.726},
		{name: "20 nodes, 200 MB", args: "--clusters 20 --nic 12.5MB --size 200MB", unit: "s", target: 20.8},
		{name: "the same, cast", system: "mob:cast:there", args: "--systems mob:cast:there --clusters 20 --nic 12.5MB --size 200MB", unit: "s", target: 21.3},
		{name: "loopback pair, 4 GB", unit: "GB/s", target: 0.57},
		{name: "CPU per GB, beside aria2", args: five, unit: "x aria2", target: 1.40},
	}
	for _, o := range operations.Operations() {
		for _, system := range o.Systems {
			b := &benchmark{name: o.Name, key: o.Name, system: system, unit: "s"}
			if system == own {
				b.target, b.copies = o.Target, o.Copies
			} else {
				b.name += ", " + system
			}
			all = append(all, b)
		}
	}
	for _, system := range strings.Split(stockClients, ",") {
		all = append(all, &benchmark{name: system + ", 120 MB", system: system, args: five, unit: of})
	}
	for _, b := range all {
		b.key, b.system = cmp.Or(b.key, b.name), cmp.Or(b.system, own)
		if b.args == "" {
			continue
		}
		var f commonFlags
		fl := pflag.NewFlagSet("grid", pflag.ContinueOnError)
		f.addGrid(fl)
		if err := fl.Parse(strings.Fields(b.args)); err != nil {
			return nil, err
		}
		c, err := f.benchCase()
		if err != nil {
			return nil, err
		}
		b.key = reportKey(bench.NewReport(&c))
	}
	return all, nil
}

func reportKey(r *bench.Report) string { return fmt.Sprint(r.Case, r.Bytes) }

// find returns the last result of the case, with its report, or nil.
func (b *benchmark) find(all []*bench.Report) (*bench.Report, *bench.Result) {
	for _, r := range slices.Backward(all) {
		if k := reportKey(r); k != b.key && r.Case != b.key {
			continue
		}
		if res := r.Result(b.system); res != nil && (b.unit != "x aria2" || r.Result("aria2") != nil) {
			return r, res
		}
	}
	return nil, nil
}

// value returns the value of a run, 0 if it failed.
func (b *benchmark) value(r *bench.Report, run *bench.Run) float64 {
	switch {
	case run.Error != "":
		return 0
	case b.unit == "s":
		return run.Last
	case b.unit == "GB/s":
		return run.Rate / 1e9
	case b.unit == "x aria2":
		return run.CPUPerGB / r.Result("aria2").Median().CPUPerGB
	}
	return run.Rate / r.Bound
}

const benchmarksHead = `# Benchmarks

Written by ` + "`mob-bench report`" + `; [how each is measured](docs/bench.md). **Bold**: misses the target. *Old*: measured before the last
change of the code that it measures.

| Case | Target | Worst run | Best run | Copies | CPU s/GB | Runs | Commit | Date | Machine | Load | Command |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

// writeBenchmarks writes a line for each case.
func writeBenchmarks(out io.Writer, cases []*benchmark, all []*bench.Report) error {
	var text strings.Builder
	text.WriteString(benchmarksHead)
	for _, b := range cases {
		row := make([]string, 9)
		if r, res := b.find(all); res != nil {
			row = b.row(r, res)
		}
		fmt.Fprintf(&text, "| %s | %s | %s | `%s` |\n", b.name, b.targets(), strings.Join(row, " | "), b.command())
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// higher reports whether higher values are better.
func (b *benchmark) higher() bool { return b.unit == "of bound" || b.unit == "GB/s" }

func (b *benchmark) targets() string {
	text := b.unit
	if b.target > 0 && b.higher() {
		text = fmt.Sprintf(">= %.3g %s", b.target, b.unit)
	} else if b.target > 0 {
		text = fmt.Sprintf("<= %.3g %s", b.target, b.unit)
	}
	if b.copies > 0 {
		text += fmt.Sprintf(", <= %.2f copies", b.copies)
	}
	return text
}

// row returns the cells of a result.
func (b *benchmark) row(r *bench.Report, res *bench.Result) []string {
	var values []float64
	copies, cpu := 0.0, 0.0
	for _, run := range res.Runs {
		values = append(values, b.value(r, run))
		copies, cpu = max(copies, r.MostCopies(run)), max(cpu, run.CPUPerGB)
	}
	slices.SortFunc(values, func(x, y float64) int {
		if failed := cmp.Compare(min(x, 1e-9), min(y, 1e-9)); failed != 0 || b.higher() {
			return cmp.Or(failed, cmp.Compare(x, y))
		}
		return cmp.Compare(y, x)
	})
	cell := func(v float64) string {
		missed := v == 0 || b.target > 0 && (v < b.target) == b.higher() && v != b.target
		return mark(missed, fmt.Sprintf("%.3g", v))
	}
	m := r.Made
	if m == nil {
		m = &bench.Made{}
	}
	commit := m.Commit
	if !m.Current() {
		commit = "*old* " + commit
	}
	return []string{
		cell(values[0]), cell(values[len(values)-1]), number(copies, b.copies), number(cpu, 0), fmt.Sprint(len(values)),
		commit, m.Date, m.Machine, m.Load,
	}
}

// number formats a number that may have a limit; zero is not known.
func number(v, most float64) string {
	if v == 0 {
		return ""
	}
	return mark(most > 0 && v > most+0.005, fmt.Sprintf("%.3g", v))
}

func mark(missed bool, text string) string {
	if missed {
		return "**" + text + "**"
	}
	return text
}
