package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const statusHelp = `Shows what is at this node and what moves: rates and bytes, WAN and LAN apart, what
a transfer waits for, and damaged pieces.

With a link, a content id or a path it shows that content alone, its peers, and
what the trackers know of all nodes. For a link it needs no daemon.`

const statusExample = `  mob status
  mob status big.tar --watch
  mob status "$LINK" --json`

// watchEvery is the time between two looks.
const watchEvery = time.Second

func newStatus(g *global) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use: "status [LINK|ID|PATH]", Short: "Show what is here and what moves", Long: statusHelp, Example: statusExample,
		Args: args(0, "LINK|ID|PATH"),
		RunE: func(cmd *cobra.Command, given []string) error {
			look, end, err := g.look(cmd.Context(), given)
			if err != nil {
				return err
			}
			defer end()
			if watch {
				return g.watch(cmd.Context(), look)
			}
			r, err := look()
			if err != nil {
				return err
			}
			if g.json {
				return format.JSON(g.Out, r)
			}
			_, err = io.WriteString(g.Out, strings.Join(r.lines(), "\n")+"\n")
			return err
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on until Ctrl-C")
	g.jsonFlag(cmd)
	return cmd
}

// report is what status shows.
type report struct {
	Node      *control.Info  `json:"node,omitempty"`
	Transfers []peer.Status  `json:"transfers"`
	Fleet     *control.Fleet `json:"fleet,omitempty"`
	// FleetError is why there is no Fleet.
	FleetError string `json:"fleet_error,omitempty"`

	detailed bool // one content alone was asked for
}

// look makes a function that finds out what to show. end lets go of what that
// needs.
func (g *global) look(ctx context.Context, given []string) (look func() (report, error), end func(), err error) {
	s, err := g.dial(ctx)
	if err == nil {
		end = s.Client.Close
	}
	if len(given) == 0 {
		return func() (report, error) { return s.overview(ctx) }, end, err
	}
	c, badArg := parseContent(given[0])
	if badArg != nil {
		return nil, nil, badArg
	}
	var none *control.NoDaemonError
	if errors.As(err, &none) && c.link != nil {
		return lookAfar(ctx, c)
	}
	return func() (report, error) { return s.detail(ctx, &c) }, end, err
}

func (s *session) overview(ctx context.Context) (report, error) {
	list, err := s.Transfers(ctx)
	return report{Node: &s.Info, Transfers: list}, err
}

// detail reports one content. One that is not here may be elsewhere.
func (s *session) detail(ctx context.Context, c *content) (report, error) {
	r := report{Node: &s.Info, Transfers: []peer.Status{}, detailed: true}
	st, err := s.Transfer(ctx, c.name)
	switch {
	case err == nil:
		r.Transfers = append(r.Transfers, st)
		if c.link == nil {
			c.link, err = proto.ParseLink(st.Link)
		}
	case errors.Is(err, peer.ErrUnknownTransfer) && c.link != nil:
		err = nil
	}
	if err != nil {
		return r, err
	}
	r.setFleet(s.Fleet(ctx, c.link))
	return r, ctx.Err()
}

// lookAfar asks the trackers of a link from a machine without a daemon.
func lookAfar(ctx context.Context, c content) (func() (report, error), func(), error) {
	if len(c.link.Trackers) == 0 {
		return nil, nil, control.ErrNoTracker
	}
	h, err := askingHost()
	if err != nil {
		return nil, nil, err
	}
	look := func() (report, error) {
		r := report{Transfers: []peer.Status{}, detailed: true}
		f, err := control.AskFleet(ctx, h, c.link)
		if err != nil {
			return r, err
		}
		r.setFleet(f, nil)
		return r, nil
	}
	return look, func() { h.Close() }, nil
}

func (r *report) setFleet(f *control.Fleet, err error) {
	if err != nil {
		r.FleetError = err.Error()
		return
	}
	r.Fleet = f
}
