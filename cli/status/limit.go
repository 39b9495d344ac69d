package status

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
)

const limitCommandHelp = `Shows the limits of the daemon, the source of each, and the end of its validity. With flags
it changes limits until the daemon ends: these override the configuration and the schedule.
--reset removes them.

With --for it shows or changes the limits of one transfer, in addition to the node's.

A rate is per second: 50MB, 400Mbit, or 0 for none. Rates count content, without
the headers of packets, which add 5 %.`

const limitCommandExample = `  mob limit
  mob limit --wan-down 20MB --wan-up 100Mbit
  mob limit --for big.tar --lan-up 50MB
  mob limit --reset`

// limitCommand are the flags of limit.
type limitCommand struct {
	limits daemon.LimitFlags
	name   string
	reset  bool
	set    *pflag.FlagSet
}

func newLimit(a *command.App) *cobra.Command {
	var f limitCommand
	return a.Command(command.Spec{
		Use: "limit", Short: "Show or change the limits of the daemon", Long: limitCommandHelp, Example: limitCommandExample,
		Flags: f.add, JSON: true, Run: f.run,
	})
}

func (f *limitCommand) add(fl *pflag.FlagSet) {
	f.set = fl
	f.limits.Add(fl, true)
	fl.StringVar(&f.name, "for", "", "LINK, ID or PATH of one transfer")
	fl.BoolVar(&f.reset, "reset", false, "remove the limits set at run time")
}

func (f *limitCommand) run(ctx context.Context, a *command.App, _ []string) error {
	req := control.LimitRequest{Reset: f.reset}
	var err error
	if req.Change, err = f.limits.Change(); err != nil {
		return command.Usagef("%w", err)
	}
	if f.name == "" && f.set.Changed("for") {
		return command.Usagef("--for is empty: give a LINK, ID or PATH")
	}
	if f.name != "" {
		c, err := a.ParseContent(f.name)
		if err != nil {
			return err
		}
		req.Name = c.Name
	}
	s, err := a.Dial(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var l control.Limits
	if req.IsZero() && !req.Reset {
		l, err = s.Limits(ctx)
	} else {
		l, err = s.SetLimits(ctx, req)
	}
	if err != nil {
		return err
	}
	if req.Name != "" {
		return printTransferLimits(ctx, a, s, req.Name)
	}
	return a.Print(l, func(w io.Writer) error { return writeLines(w, limitLines(&l, time.Now())) })
}

// printTransferLimits shows the limits of one transfer.
func printTransferLimits(ctx context.Context, a *command.App, s *control.Client, name string) error {
	st, err := s.Transfer(ctx, name)
	if err != nil {
		return err
	}
	var own limit.Limits
	if st.Limits != nil {
		own = *st.Limits
	}
	return a.Print(control.TransferLimits{ID: st.ID, Name: st.Name, Limits: own}, func(w io.Writer) error {
		return writeLines(w, []string{st.Name + ": " + own.String()})
	})
}

func writeLines(out io.Writer, lines []string) error {
	w := term.NewTextWriter(out)
	for _, l := range lines {
		w.Line("%s", term.Printable(l))
	}
	return w.Flush()
}

// limitLines shows the limits of a node.
func limitLines(l *control.Limits, now time.Time) (out []string) {
	for _, s := range l.Settings {
		text := fmt.Sprintf("%-16s  %-10v", s.Name, s.Rate) + describeSetting(s, now)
		if s.Name == "cluster-wan-down" && l.Share != nil {
			text += ", " + describeShare(l.Share)
		}
		out = append(out, strings.TrimRight(text, " "))
	}
	for _, t := range l.Transfers {
		out = append(out, t.Name+": "+t.Limits.String())
	}
	return out
}

// describeSetting formats the source of a limit, and its end.
func describeSetting(s limit.Setting, now time.Time) (text string) {
	switch {
	case s.By == "schedule":
		text = "  by the schedule " + s.Entry
	case s.By == "command":
		text = "  by mob limit"
	}
	if s.Until.IsZero() {
		return text
	}
	layout := "15:04"
	if s.Until.Sub(now) > 12*time.Hour {
		layout = "Mon 15:04"
	}
	return text + "  until " + s.Until.Local().Format(layout)
}

// describeShare formats the node's share of the limit of the cluster.
func describeShare(s *peer.ShareStatus) string {
	text := fmt.Sprintf("%v of it for this node, %s share it", s.Rate, term.Plural(s.Members, "member"))
	if s.LowestBy != "" {
		text += fmt.Sprintf("; %s has the lowest, %v, which counts", s.LowestBy, s.Limit)
	}
	return text
}

// statusLimitLines shows the limits that are set, in a status.
func statusLimitLines(l *control.Limits, now time.Time) (out []string) {
	if l == nil {
		return nil
	}
	for _, s := range l.Settings {
		if s.Rate == 0 && s.By == "configuration" {
			continue
		}
		text := s.Name + " " + s.Rate.String() + describeSetting(s, now)
		if s.Name == "cluster-wan-down" && l.Share != nil {
			text += ", " + describeShare(l.Share)
		}
		out = append(out, term.Heading("limit", len(out))+text)
	}
	return out
}
