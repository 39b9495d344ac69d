package compare

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/chart"
)

const help = `Compares mob with other systems, or runs it in a simulator: the same content over the
same links, and one way of measuring.

The throughput is the size of the content by the time from the start until the last
node has its copy. The bound is the highest that any broadcast can have over these
links and NICs (Edmonds' bound). WAN copies are what entered a cluster from others,
by the size.`

const example = `  mob bench grid --systems mob,aria2 --scenario fast --clusters 4x4 --size 240MB
  mob bench sim --scenario random --clusters 20x10 --size 240MB`

// Shell is the program around the commands.
type Shell struct {
	// Out gets results.
	Out io.Writer
	// Note prints a line for people.
	Note func(format string, args ...any)
	// Live begins a line that changes.
	Live func() Live
	// Wrong makes an error wrong usage of a command.
	Wrong func(cmd *cobra.Command, err error) error
	// CheckSeed says what is wrong about options of mob seed, which are without their
	// dashes: those that say how a content is cut and sent.
	CheckSeed func(options []string) error
}

// Live is a line that changes, or where there is no terminal one that is printed
// now and then.
type Live interface {
	Show(line string)
	Clear()
}

// New makes the command bench.
func New(sh *Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bench", Short: "Compare with other systems, and simulate", Long: help, Example: example,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, given []string) error {
			if len(given) > 0 {
				return sh.Wrong(cmd, fmt.Errorf("unknown command %q", given[0]))
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newGrid(sh), newSim(sh))
	return cmd
}

// results prints what a comparison came to, and is an error when it is bad. checked are
// the systems that --check is about.
func (f *flags) results(sh *Shell, r *bench.Report, checked ...string) error {
	var err error
	if f.json {
		err = r.WriteJSON(sh.Out)
	} else if err = r.WriteTable(sh.Out); err == nil && f.verbose {
		err = r.WriteLinks(sh.Out)
	}
	if f.svg != "" {
		err = errors.Join(err, draw(f.svg, func(w io.Writer) error { return chart.SVG(w, r) }))
	}
	err = errors.Join(err, r.Failed())
	if f.check {
		err = errors.Join(err, r.Check(checked...))
	}
	return err
}

// draw makes a file with a picture.
func draw(path string, svg func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(svg(f), f.Close())
}
