package status

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer/limit"
)

const limitCommandHelp = `Shows the limits of the daemon, the source of each, and the time at which it ends. With
flags it changes limits until the daemon ends: these override the configuration and the
schedule. --reset removes them.

With --for it shows or changes the limits of one transfer, in addition to the node's.
--priority changes its priority, which it keeps: while a transfer of a higher priority
receives or sends, the lower ones of this node share 5 % of the bytes in that direction
(WAN down, WAN up, LAN up), at least 64 KiB/s. The default is normal.

A rate is per second: 50MB, 400Mbit, or 0 for none. Rates count content, without
the headers of packets, which add 5 %.`

const limitCommandExample = `  mob limit
  mob limit --wan-down 20MB --wan-up 100Mbit
  mob limit --for big.tar --lan-up 50MB
  mob limit --for big.tar --priority low
  mob limit --reset`

// limitCommand are the flags of limit.
type limitCommand struct {
	limits daemon.LimitFlags
	name   string
	reset  bool

	priority limit.Priority
}

func newLimit(a *command.App) *cobra.Command {
	var f limitCommand
	return a.Command(command.Spec{
		Use: "limit", Short: "Show or change the limits of the daemon", Long: limitCommandHelp, Example: limitCommandExample,
		Flags: f.add, JSON: true, Run: f.run,
	})
}

func (f *limitCommand) add(fl *pflag.FlagSet) {
	f.limits.Add(fl, true)
	fl.StringVar(&f.name, "for", "", "LINK, ID or PATH of one transfer")
	daemon.AddPriority(fl, &f.priority)
	fl.BoolVar(&f.reset, "reset", false, "remove the limits set at run time")
}

func (f *limitCommand) run(ctx context.Context, a *command.App, _ []string) error {
	req := control.LimitRequest{Reset: f.reset, Priority: f.priority}
	var err error
	if req.Change, err = f.limits.Change(); err != nil {
		return command.Usagef("%w", err)
	}
	if f.name == "" && f.priority != "" {
		return command.Usagef("--priority is for one transfer: name it with --for")
	}
	if f.name != "" {
		c, err := a.ParseContent(ctx, f.name)
		if err != nil {
			return err
		}
		req.Name = c.Name
	}
	s, err := a.Dial(ctx)
	if err != nil {
		return err
	}
	var l control.Limits
	if req.IsZero() && !req.Reset && req.Priority == "" {
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
	return a.Print(l, func(w term.TextWriter) { printLimits(w, &l) })
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
	l := control.TransferLimits{ID: st.ID, Name: st.Name, Limits: own, Priority: st.Priority}
	return a.Print(l, func(w term.TextWriter) {
		w.Line("%s: %v, %s priority", st.Name, own, cmp.Or(st.Priority, limit.Normal))
	})
}

// printLimits shows the limits of a node.
func printLimits(w term.TextWriter, l *control.Limits) {
	for _, s := range l.Settings {
		text := fmt.Sprintf("%-16s  %-10v", s.Name, s.Rate) + describeSetting(s, l.Share)
		w.Line("%s", strings.TrimRight(text, " "))
	}
	for _, t := range l.Transfers {
		w.Line("%s: %v", t.Name, t.Limits)
	}
}

// describeSetting formats the source of a limit, its end, and the node's share of the limit of the cluster.
func describeSetting(s limit.Setting, share *limit.ShareStatus) (text string) {
	switch s.By {
	case "schedule":
		text = "  by the schedule " + s.Entry
	case "command":
		text = "  by mob limit"
	}
	if !s.Until.IsZero() {
		layout := "15:04"
		if time.Until(s.Until) > 12*time.Hour {
			layout = "Mon 15:04"
		}
		text += "  until " + s.Until.Local().Format(layout)
	}
	if s.Name == "cluster-wan-down" && share != nil {
		text += fmt.Sprintf("  %v of it for this node, shared by %s", share.Rate, term.Plural(share.Members, "member"))
		if share.LowestBy != "" {
			text += fmt.Sprintf("; %s has the lowest, %v, which counts", share.LowestBy, share.Limit)
		}
	}
	return text
}

// statusLimitLines shows the limits that are set, in a status.
func statusLimitLines(l *control.Limits) (out []string) {
	if l == nil {
		return nil
	}
	for _, s := range l.Settings {
		if s.Rate == 0 && s.By == "configuration" {
			continue
		}
		out = append(out, term.Heading("limit", len(out))+s.Name+" "+s.Rate.String()+describeSetting(s, l.Share))
	}
	return out
}
