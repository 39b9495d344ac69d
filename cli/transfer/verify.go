package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
)

const verifyHelp = `Compares all files, links and directories with the content, reads the files again,
hashes them, and names what differs: gone, replaced, cut, grown or changed. A changed
file with the right bytes does not differ. Of a damaged piece in several files, the file
that differs is named, or "one of" them if none is known to. The node serves the content
during that.

Damaged pieces are not offered any more. --repair fetches them again, and waits until
the content is complete. Seeded files are never written to: put them back as they were,
and verify or seed them again.

The exit status is 0 if all that the node had is intact, or was repaired, and 1 if
anything differs, is damaged or missing, or cannot be read, and if the content is not at
its path.

The daemon of --data does the work. Without a daemon the command runs a node itself.`

const verifyExample = `  mob verify big.tar
  mob verify "$LINK" --repair
  mob verify big.tar --json`

// verifyFlags are the flags of verify.
type verifyFlags struct {
	node   daemon.Flags
	repair bool
	quiet  bool
}

func newVerify(a *command.App) *cobra.Command {
	var f verifyFlags
	return a.Command(command.Spec{
		Use: "verify PATH|LINK|ID", Short: "Verify the files of a transfer and list damaged ones", Long: verifyHelp, Example: verifyExample,
		Args: command.Args(1, "PATH|LINK|ID"), Flags: func(fl *pflag.FlagSet) { f.add(a, fl) }, JSON: true, Run: f.run,
	})
}

func (f *verifyFlags) add(a *command.App, fl *pflag.FlagSet) {
	f.node.Add(a, fl)
	fl.BoolVar(&f.repair, "repair", false, "fetch damaged pieces again, and wait until the transfer is complete")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
}

func (f *verifyFlags) run(ctx context.Context, a *command.App, args []string) (err error) {
	c, err := a.ParseContent(ctx, args[0])
	if err != nil {
		return err
	}
	s, err := daemon.DialOrRun(ctx, a, &f.node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	v, st, err := hashAgain(ctx, a, s, c, f.repair, f.quiet)
	if err != nil {
		return s.NoTransfer(c.Name, err)
	}
	lacking := v.Pieces - v.Checked - v.Unreadable.Count + v.Damaged.Count + len(v.Different)
	r := verified{v, st.ID, st.Name, st.Root, st.Seed, f.repair && !st.Seed && v.Unreadable.Count == 0 && lacking > 0 && len(v.Left) == 0}
	return errors.Join(a.Print(r, r.print), r.verdict())
}

// hashAgain has the daemon verify the files, and shows the progress.
func hashAgain(ctx context.Context, a *command.App, s *daemon.Session, c command.Content, repair, quiet bool) (
	*peer.Verification, peer.Status, error,
) {
	p := a.Screen(quiet)
	defer p.Clear()
	name, began := filepath.Base(c.Name), time.Now()
	if c.Link != nil {
		name = cmp.Or(c.Link.Name, c.Link.Keys()[0].String())
	}
	return s.Verify(ctx, c.Name, repair, func(ev control.Event) {
		switch {
		case ev.Done:
		case ev.Status != nil:
			p.Show(getFrame(*ev.Status))
		default:
			p.Show(hashFrame(name, ev.Hashed, ev.Total, time.Since(began)))
		}
	})
}

// verified is the result of a verify.
type verified struct {
	*peer.Verification
	ID   string `json:"id"`
	Name string `json:"name"`
	Path string `json:"path"`
	Seed bool   `json:"seed"`
	// Repaired is set if damaged or missing pieces were fetched.
	Repaired bool `json:"repaired"`
}

// verdict returns an error unless the content is intact now.
func (r verified) verdict() error {
	var all []error
	if what := r.worst(); what != "" && !r.Repaired {
		switch {
		case len(r.Left) > 0:
			all = append(all, fmt.Errorf("%s still differs: move it away and `mob get` the link again", r.Left[0].Path))
		case r.Seed && r.Damaged.Count > 0:
			all = append(all, fmt.Errorf("%s and not offered any more: "+
				"put the files back as they were, and verify or seed the content again", what))
		case r.Seed:
			all = append(all, fmt.Errorf("%s: put the files back as they were, or seed the content again", what))
		default:
			all = append(all, fmt.Errorf("%s: `mob verify --repair` repairs the content", what))
		}
	}
	if n := r.Unreadable.Count; n > 0 {
		all = append(all, fmt.Errorf("%s not readable at present: %s", arePieces(n), r.Why))
	}
	if i := slices.IndexFunc(r.Different, isUnreadable); i >= 0 && r.Unreadable.Count == 0 {
		all = append(all, fmt.Errorf("%s is not readable at present", r.Different[i].Path))
	}
	return errors.Join(all...)
}

func isUnreadable(d store.Difference) bool { return d.What == store.NoAccess }

// worst describes the worst finding, empty if there is none.
func (r verified) worst() string {
	different := slices.DeleteFunc(slices.Clone(r.Different), isUnreadable)
	switch n := len(different) + r.MoreDifferent; {
	case r.Damaged.Count > 0:
		return arePieces(r.Damaged.Count) + " damaged"
	case r.Missing.Count > 0:
		return arePieces(r.Missing.Count) + " missing"
	case n == 1:
		return different[0].Path + " differs"
	case n > 1:
		return fmt.Sprintf("%d files, links or directories differ", n)
	}
	return ""
}

// arePieces formats a number of pieces, and the verb.
func arePieces(n int) string {
	if n == 1 {
		return "1 piece is"
	}
	return term.Plural(n, "piece") + " are"
}

// print writes the result for people.
func (r verified) print(w term.TextWriter) {
	path := cmp.Or(r.Path, r.Name)
	if intact := r.Checked - r.Damaged.Count; intact == r.Pieces && len(r.Different) == 0 {
		w.Line("%s: intact, %s", path, term.Plural(r.Pieces, "piece"))
	} else {
		w.Line("%s: %d of %s intact", path, intact, term.Plural(r.Pieces, "piece"))
	}
	for _, d := range r.Different[:min(len(r.Different), maxNumbers)] {
		w.Line("  %s: %s", d.What, d.Path)
	}
	if more := len(r.Different) + r.MoreDifferent - maxNumbers; more > 0 {
		w.Line("  %d more differ", more)
	}
	listPieces(w, "damaged", r.Damaged)
	listPieces(w, "missing", r.Missing)
	listPieces(w, "unreadable", r.Unreadable)
	if lacking := r.Pieces - r.Checked - r.Unreadable.Count - r.Missing.Count; lacking > 0 {
		w.Line("  %s missing", arePieces(lacking))
	}
	if r.LeftOut.Files > 0 {
		w.Line("  %s", command.LeftOut(r.LeftOut))
	}
	if r.Repaired {
		w.Line("  repaired: all pieces are valid now")
	}
}

// maxNumbers bounds the numbers of pieces in one line.
const maxNumbers = 20

func listPieces(w term.TextWriter, what string, l peer.PieceList) {
	if l.Count == 0 {
		return
	}
	var numbers []string
	for _, n := range l.Numbers[:min(len(l.Numbers), maxNumbers)] {
		numbers = append(numbers, fmt.Sprint(n))
	}
	text := strings.Join(numbers, ", ")
	if more := l.Count - len(numbers); more > 0 {
		text += fmt.Sprintf(" and %s more", humanize.Comma(int64(more)))
	}
	w.Line("  %s: %s (%s)", what, term.Plural(l.Count, "piece"), text)
	for _, f := range l.Files {
		w.Line("    in %s", f)
	}
	if l.MoreFiles > 0 {
		w.Line("    and in %s more", term.Plural(l.MoreFiles, "file"))
	}
	for _, g := range l.OneOf[:min(len(l.OneOf), maxNumbers)] {
		names := strings.Join(g.Files, ", ")
		if g.More > 0 {
			names += fmt.Sprintf(" and %d more", g.More)
		}
		w.Line("    in one of %s", names)
	}
}
