package casting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
)

const (
	// rateOver is the interval of the rate that is shown.
	rateOver = 3 * time.Second
	// maxFolded bounds the hosts that a phase names.
	maxFolded = 1000
	// maxQueue bounds the bytes that commands on hosts have printed and that were not
	// printed here yet. A shorter line counts as minLine bytes.
	maxQueue = 16 << 20
	minLine  = 128
)

// view collects the events of a cast for its frames.
type view struct {
	cfg   cast.Config
	began time.Time

	mu      sync.Mutex
	source  cast.Source
	hosts   hosts
	output  []string // of commands, not printed yet
	queued  int      // bytes of it
	dropped int      // lines that did not fit
	wake    chan struct{}

	samples []sample // newest last; of the goroutine that shows frames
}

// sample is the number of bytes that all hosts had at a time.
type sample struct {
	at  time.Time
	got int64
}

func newView(cfg cast.Config) *view {
	v := &view{cfg: cfg, began: time.Now(), source: cast.Source{Length: -1}, wake: make(chan struct{}, 1)}
	if cfg.Output != "" {
		v.source.Length = 0
	}
	for _, h := range cfg.Hosts {
		v.hosts = append(v.hosts, cast.HostResult{Host: h, Phase: cast.Waiting, Moved: v.began})
	}
	return v
}

// event takes an event into the view.
func (v *view) event(e cast.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case e.Source != nil:
		v.source = *e.Source
	case e.Host != nil:
		v.hosts[e.Index] = *e.Host
	case e.Output == nil:
	case v.queued+max(len(*e.Output), minLine) > maxQueue:
		v.dropped++
	default:
		v.output = append(v.output, v.hosts[e.Index].Name+": "+*e.Output)
		v.queued += max(len(*e.Output), minLine)
		select {
		case v.wake <- struct{}{}:
		default:
		}
	}
}

// takeOutput returns what commands printed since the last call.
func (v *view) takeOutput() (lines []string, dropped int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines, dropped = v.output, v.dropped
	v.output, v.queued, v.dropped = nil, 0, 0
	return lines, dropped
}

// castAndShow runs a cast, shows its progress, and prints what commands on the hosts print: to
// standard output, or with --json to standard error. The cast ends if the reader exits.
func castAndShow(ctx context.Context, a *command.App, run runner, cfg cast.Config, quiet bool) (res *cast.Result, err error) {
	v := newView(cfg)
	cfg.Event = v.event
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = run(ctx, cfg)
	}()
	p := a.Screen(quiet)
	defer p.Clear()
	out := a.Out
	if a.JSON {
		out = a.Err
	}
	flush := func() {
		lines, dropped := v.takeOutput()
		if len(lines)+dropped == 0 {
			return
		}
		p.Clear()
		for _, l := range lines {
			if _, err := fmt.Fprintln(out, printableLine(l)); errors.Is(err, syscall.EPIPE) {
				giveUp(err)
			}
		}
		if dropped > 0 {
			p.Note("%s of output were left out: they arrived faster than they could be printed", term.Plural(dropped, "line"))
		}
	}
	tick := time.NewTicker(term.DrawInterval)
	defer tick.Stop()
	for {
		select {
		case <-v.wake:
			flush()
		case <-tick.C:
			p.Show(v.frame())
		case <-done:
			flush()
			return res, err
		}
	}
}

// printableLine is [term.Printable] for a line of output, whose tabs remain.
func printableLine(line string) string {
	columns := strings.Split(line, "\t")
	for i, c := range columns {
		columns[i] = term.Printable(c)
	}
	return strings.Join(columns, "\t")
}

// frame returns how far the cast is now.
func (v *view) frame() frame {
	v.mu.Lock()
	f := frame{cfg: v.cfg, source: v.source, hosts: slices.Clone(v.hosts), took: time.Since(v.began)}
	v.mu.Unlock()
	var got int64
	for i := range f.hosts {
		got += f.hosts[i].Bytes
	}
	now := time.Now()
	for len(v.samples) > 1 && now.Sub(v.samples[1].at) >= rateOver {
		v.samples = v.samples[1:]
	}
	v.samples = append(v.samples, sample{now, got})
	first := v.samples[0]
	f.rate = max(0, term.Average(got-first.got, now.Sub(first.at)))
	return f
}

// frame shows the progress of a cast.
type frame struct {
	cfg    cast.Config
	source cast.Source
	hosts  hosts
	took   time.Duration
	rate   int64 // of all hosts
}

// Picture has a line for each phase that hosts are in, and for each reason why some failed.
func (f frame) Picture(width int) []string {
	lines := []string{f.head()}
	for phase, hosts := range f.hosts.phases {
		line := phaseLine(string(phase), len(hosts))
		switch {
		case phase == cast.Fetching:
			lines = append(lines, line+f.fetching(width-len(line)), strings.Repeat(" ", len(line))+"slowest: "+hosts.slowest(f.source.Length))
			continue
		case phase == cast.Failed:
			name := string(phase)
			for _, c := range hosts.causes() {
				lines = append(lines, phaseLine(name, len(c.hosts))+c.String())
				name = ""
			}
			continue
		case len(hosts) <= maxFolded && phase != cast.Waiting && phase != cast.Done:
			line += hosts.fold()
		}
		lines = append(lines, line)
	}
	return lines
}

// phaseLine returns the start of the line of a phase.
func phaseLine(phase string, hosts int) string { return fmt.Sprintf("  %-9s %5d  ", phase, hosts) }

// head formats the source and the number of hosts.
func (f frame) head() string {
	text := sourceName(&f.cfg)
	switch s := f.source; {
	case f.cfg.Output != "":
	case s.Length < 0 && s.Read > 0:
		text += fmt.Sprintf(": %s so far", term.Bytes(s.Read))
	case s.Length >= 0 && s.Read < s.Length:
		text += fmt.Sprintf(": %s (%d%% read)", term.Bytes(s.Length), term.Percent(s.Read, s.Length))
	case s.Length >= 0:
		text += ": " + term.Bytes(s.Length)
	}
	return fmt.Sprintf("%s %s %s, %s", text, way(&f.cfg), term.Plural(len(f.hosts), "host"), term.Duration(f.took))
}

// progress returns the bytes that the hosts that did not fail have, and need: -1 for a stream.
func (f frame) progress() (have, all int64) {
	for _, h := range f.hosts {
		if h.Phase != cast.Failed {
			have += h.Bytes
			all += f.source.Length + h.Length
		}
	}
	if f.source.Length < 0 {
		return have, -1
	}
	return have, all
}

// fetching formats the progress of all hosts.
func (f frame) fetching(width int) string {
	have, all := f.progress()
	if all < 0 {
		return fmt.Sprintf("%s, %s", term.Bytes(have), term.Rate(f.rate))
	}
	facts := fmt.Sprintf(" %3d%%, %s", term.Percent(have, all), term.Rate(f.rate))
	if left := term.Left(all-have, f.rate); left != "" {
		facts += ", " + left
	}
	return term.BarBeside(facts, have, all, width)
}

// Position implements [term.Progress]. A host that hashes its files has no more bytes, and makes progress.
func (f frame) Position() any {
	var moved time.Time
	for _, h := range f.hosts {
		if h.Moved.After(moved) {
			moved = h.Moved
		}
	}
	at := fmt.Sprint(f.source.Read, moved)
	for phase, hosts := range f.hosts.phases {
		at += fmt.Sprint(phase, len(hosts))
	}
	return at
}

// Waiting implements [term.Progress]. A stream that has reached all hosts waits for its source only.
func (f frame) Waiting() (what, remedy string) {
	hashed := f.cfg.Source != "-" && f.cfg.Exec == "" && f.cfg.Output == "" // before hosts fetch it
	if hashed && (f.source.Length < 0 || f.source.Read < f.source.Length) {
		return "hashing " + f.cfg.Source, "does the disk answer (`dmesg`, `mount`)?"
	}
	fetching := f.hosts.in(cast.Fetching)
	if f.source.Length < 0 {
		fetching = slices.DeleteFunc(fetching, func(h cast.HostResult) bool { return h.Bytes >= f.source.Read })
	}
	if len(fetching) > 0 {
		return "waiting for " + fetching.slowest(f.source.Length), "does that host answer, and its disk or command take data?"
	}
	for phase, hosts := range f.hosts.phases {
		if phase == cast.Login || phase == cast.Program || phase == cast.Start {
			try := strings.Join(launch.Shell(f.cfg.Shell).Args(hosts[0].Name, "true"), " ")
			return fmt.Sprintf("waiting for the %s of %s", phase, hosts.fold()), fmt.Sprintf("does `%s` end, without a password?", try)
		}
	}
	return "", ""
}

// Line implements [term.Frame].
func (f frame) Line() string {
	parts := []string{f.head()}
	have, all := f.progress()
	if all > 0 && have > 0 {
		parts = append(parts, fmt.Sprintf("%d%%", term.Percent(have, all)))
	}
	if have > 0 {
		parts = append(parts, term.Rate(f.rate))
	}
	var counts []string
	for phase, hosts := range f.hosts.phases {
		text := fmt.Sprintf("%d %s", len(hosts), phase)
		if phase == cast.Fetching {
			text += fmt.Sprintf(" (slowest %s)", hosts.slowest(f.source.Length))
		}
		counts = append(counts, text)
	}
	return strings.Join(parts, ", ") + "; " + strings.Join(counts, ", ")
}
