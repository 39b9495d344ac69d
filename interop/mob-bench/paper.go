package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/operations"
	"github.com/mobgrid/mob/interop/netns"
)

const paperHelp = `Compares mob with the measurements in five papers: mob, cooper, kascade, stable (broadcast)
and twister. It runs the cases of these papers on the grid and in the simulator, and
writes report.md and a picture of each figure. It needs root, and mob and mobd beside it.

Rates and sizes of large grids are divided by --scale. The report starts with a
calibration, which says whether such cases are compared, and lists what differs. If the
directory has an earlier run on this machine, the report lists the ratios that moved by
more than 10 % since.

All cases take up to 90 minutes on two cores. With --quick the main cases of each paper
run once, with smaller sizes: at most 10 minutes. After Ctrl-C the report has the rows so far.`

const paperExample = `  sudo mob-bench paper --quick
  sudo mob-bench paper mob twister -o report`

// quickTime bounds the start of cases with --quick, so that it ends after ten minutes on a busy machine too.
const quickTime = 9 * time.Minute

// paperFlags are the flags of mob-bench paper.
type paperFlags struct {
	scale, out string
	quick      bool
}

func newPaper(a *command.App) *cobra.Command {
	var f paperFlags
	return a.Command(command.Spec{
		Use: "paper [" + strings.Join(bench.PaperNames(), " ") + "]", Short: "Compare with the measurements of five papers", Long: paperHelp, Example: paperExample,
		Args: cobra.ArbitraryArgs,
		Flags: func(fl *pflag.FlagSet) {
			fl.BoolVar(&f.quick, "quick", false, "run the short cases once, with smaller sizes")
			fl.StringVar(&f.scale, "scale", "1/4", "rates and sizes of large grids, as a part of the full ones: 1/2 to 1/64, or 1")
			fl.StringVarP(&f.out, "out", "o", "paper", "`DIR` of the report")
		},
		Run: func(ctx context.Context, a *command.App, papers []string) error {
			scale, err := parseScale(f.scale)
			if err != nil {
				return command.Usagef("--scale: %w", err)
			}
			for _, p := range papers {
				if !slices.Contains(bench.PaperNames(), p) {
					return command.Usagef("unknown paper %q: use some of %s", p, strings.Join(bench.PaperNames(), ", "))
				}
			}
			if len(papers) == 0 {
				papers = bench.PaperNames()
			}
			if err := netns.Available(); err != nil {
				return err
			}
			earlier, err := bench.ReadPaperRun(f.out)
			if err != nil {
				return err
			}
			r := &bench.PaperReport{Papers: papers, Scale: scale, Results: map[string]*bench.Report{}, Earlier: earlier}
			return f.run(ctx, a, r, time.Now().Add(quickTime))
		},
	})
}

// parseScale returns the divisor of a scale such as 1/4.
func parseScale(s string) (n float64, err error) {
	if _, err := fmt.Sscanf(s+" ", "1/%g ", &n); s != "1" && (err != nil || n < 1 || n > 64 || s != fmt.Sprintf("1/%g", n)) {
		return 0, fmt.Errorf("%q is not 1 or 1/2 to 1/64", s)
	}
	return max(n, 1), nil
}

// run runs the cases of the papers. It writes the report after each, so that an interrupted run has one too. With --quick no
// case starts after the given time.
func (f *paperFlags) run(ctx context.Context, a *command.App, r *bench.PaperReport, until time.Time) error {
	for _, c := range bench.PaperCases(r.Papers...) {
		if f.quick && c.Quick == "" {
			r.Results[c.Name] = leftOut("not with --quick")
		} else {
			r.Cases = append(r.Cases, c)
		}
	}
	for i, c := range r.Cases {
		if f.quick && time.Now().After(until) {
			r.Results[c.Name] = leftOut("no time was left with --quick")
			continue
		}
		a.Note("case %d of %d: %s", i+1, len(r.Cases), c.Name)
		r.Results[c.Name] = f.runCase(ctx, a, &c, r.Scale)
		if ctx.Err() != nil {
			return errors.Join(r.Write(f.out), context.Cause(ctx))
		}
		if err := r.Write(f.out); err != nil {
			return err
		}
	}
	a.Note("%s/report.md is written", f.out)
	return errors.Join(r.Write(f.out), r.Save(f.out))
}

func leftOut(why string) *bench.Report {
	return &bench.Report{Made: new(bench.Made), LeftOut: []bench.LeftOut{{Why: why}}}
}

// runCase runs the command of a case. It returns nil if ctx ends.
func (f *paperFlags) runCase(ctx context.Context, a *command.App, c *bench.PaperCase, scale float64) *bench.Report {
	made := bench.NewMade()
	r, err := f.report(ctx, a, c, scale)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		a.Note("%s: %v", c.Name, err)
		r = leftOut(command.OneLine(err.Error()))
	}
	r.Made = made
	return r
}

// paperCommand is a command of a case with its flags.
type paperCommand struct {
	name     string
	planners plannersFlags
	rounds   roundFlags
	transfer commonFlags // of grid and sim
}

func parsePaperCommand(line string) (*paperCommand, error) {
	words := strings.Fields(line)
	p := &paperCommand{name: words[0]}
	fl := pflag.NewFlagSet(p.name, pflag.ContinueOnError)
	map[string]func(*pflag.FlagSet){
		"planners": p.planners.add, "rounds": p.rounds.add, "sim": p.transfer.addSim, "grid": p.transfer.addGrid,
	}[p.name](fl)
	return p, fl.Parse(words[1:])
}

// report runs a command of a case: on the grid twice, or once with --quick.
func (f *paperFlags) report(ctx context.Context, a *command.App, c *bench.PaperCase, scale float64) (*bench.Report, error) {
	if operation, ok := strings.CutPrefix(c.Command, "collective "); ok {
		return operationReport(ctx, operation)
	}
	p, err := parsePaperCommand(c.Command)
	if err != nil {
		return nil, err
	}
	switch p.name {
	case "planners":
		r, err := p.planners.report(ctx, a)
		return r.Means(), err
	case "rounds":
		r, err := p.rounds.report(ctx, a)
		return r.Medians(), err
	}
	t := &p.transfer
	bc, err := f.benchCase(t, c, scale)
	if err != nil {
		return nil, err
	}
	systems, err := parseSystems(t.systems)
	if err != nil {
		return nil, err
	}
	var r *bench.Report
	if p.name == "sim" {
		r, err = t.simulate(ctx, a, &bc, systems)
	} else {
		if t.repeat = 2; f.quick {
			t.repeat = 1
		}
		r, err = gridReport(ctx, a, t, bc, systems)
	}
	if err == nil && c.Sum {
		r = r.Sums()
	}
	return r, err
}

// benchCase makes the case of flags, with the size of --quick, and the links and the scale of the case of a paper. Plans
// are made for the links as they are at the start, but not for the first draw of mayhem.
func (f *paperFlags) benchCase(s *commonFlags, c *bench.PaperCase, scale float64) (bench.Case, error) {
	if f.quick && c.Quick != "same" {
		s.size = c.Quick
	}
	s.wan = netns.Rate(c.WAN) * netns.MBps
	bc, err := s.benchCase()
	if err != nil {
		return bc, err
	}
	if s.scenario != "mayhem" {
		links, _ := bc.Scenario(0)
		bc.Nominal = &links
	}
	if c.Scaled {
		bc.Scale(scale)
	}
	return bc, nil
}

// operationReport runs a collective operation of mob. The rate of "bytes" is the reciprocal of what entered clusters.
func operationReport(ctx context.Context, name string) (*bench.Report, error) {
	all := operations.Operations()
	i := slices.IndexFunc(all, func(o operations.Operation) bool { return o.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no operation %q", name)
	}
	run := runOperation(ctx, own, all[i])
	copies := 0.0
	for _, c := range run.Copies {
		copies += c.Copies
	}
	r := new(bench.Report)
	r.Add(own, run)
	r.Add("bytes", &bench.Run{Error: run.Error, Rate: 1 / copies})
	return r, nil
}
