package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const seedHelp = `Hashes a file or directory in place, serves it from there, and prints its link, alone,
on standard output.

With "-" it serves what it reads from standard input, as a file of the name of --name,
and prints the link at the end of the input. That is kept in memory, or on the disk if
it is long, in a file without a name: nothing is left when the command or the daemon
ends.

The daemon of --data serves the content from then on. Without a daemon the command
runs a node until Ctrl-C. Do not change the content while it is served.

Symbolic links within PATH stay links. Links out of it are rejected, such as in the cache
of a model hub; --follow-links takes the files and directories they lead to, each of them
once: further links to it become links in the copy. A link that leads to another file
later is not served until PATH is seeded again.

Files and directories that cannot be read end the command with their names, before
anything is hashed; --skip-unreadable leaves them out, and names them.

--priority is the priority of the content among the transfers of this node, as for mob
get.

--wait N returns when N other nodes have told this one that they have the whole content.
With --deadline it ends that long after the start with exit status 1, and the number of
nodes that have it; a daemon continues to serve.

--torrent offers the content to BitTorrent clients too: the same link is a magnet link
for them, with the trackers of --bt-tracker, or by default with its trackers that
serve BitTorrent (--bt-listen). --torrent-file also writes a torrent file.
Torrents have no symbolic links, empty directories, modes and times.

--coded sends random linear combinations of k blocks (RLNC), of which any k will do:
clusters that fetch from one node at the same time never fetch the same bytes. It
costs CPU. By default k follows from how fast this machine codes and its network is;
--coded=32 sets it. The link has the value.

--strategy is for one cluster of similar machines. Nodes push coded blocks along
permutations that are fixed in advance (Cooper), and request nothing. permutation
sends one generation after the other, overlap1 and overlap2 overlap them, and rb sends
plain blocks, for comparison. Generations have 192 blocks, or k with --coded=k: large
ones are best.

--plan computes broadcast trees before anything is sent, for the hosts and rates of
--topology (see mob-bench plan), and the link names the plan. A host gets a piece from
its parent in the piece's tree, and from other peers only if the parent is away or has
no progress. The name of a host is --host of mobd, by default the name of the machine.`

const seedExample = `  mob seed big.tar --tracker /ip4/192.0.2.7/tcp/4000/p2p/12D3KooW...
  LINK=$(mob seed /data/models)
  tar c models | mob seed - --name models.tar
  mob seed big.tar --tracker "$TRACKER" --wait 15 --deadline 30m
  mob seed big.tar --torrent-file big.tar.torrent --bt-tracker http://192.0.2.7:6969/announce
  mob seed big.tar --tracker "$TRACKER" --coded=16
  mob seed big.tar --tracker "$TRACKER" --strategy overlap2
  mob seed big.tar --tracker "$TRACKER" --plan balanced --topology sites.toml`

const (
	// damageEvery is the time between two looks for damage while a command serves.
	damageEvery = time.Second
	// askEvery is the number of such looks between two queries to the trackers, and askAgain the number after a query that failed.
	askEvery = 30
	askAgain = 5
)

func newSeed(a *command.App) *cobra.Command {
	var f seedFlags
	return a.Command(command.Spec{
		Use: "seed PATH|-", Short: "Serve a file or directory, and print its link", Long: seedHelp, Example: seedExample,
		Args: command.Args(1, "PATH"), Flags: func(fl *pflag.FlagSet) { f.add(a, fl) }, JSON: true, Run: f.run,
	})
}

func (f *seedFlags) run(ctx context.Context, a *command.App, args []string) (err error) {
	path := args[0]
	if err := f.check(a, path); err != nil {
		return err
	}
	if err := a.CheckOut(); err != nil {
		return err
	}
	if f.torrentFile.path != "" { // before hours of hashing
		if err := f.torrentFile.check(a.Env, filepath.Base(f.Path)+".torrent"); err != nil {
			return fmt.Errorf("--torrent-file: %w", err)
		}
	}
	topology, network, err := f.readNetwork()
	if err != nil {
		return err
	}
	s, err := daemon.DialOrRun(ctx, a, &f.node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if network != nil {
		if f.Plan, err = f.makePlan(topology, network, &s.Info); err != nil {
			return err
		}
	}
	if f.wait > 0 && len(f.Trackers)+len(s.Info.Trackers) == 0 {
		return errors.New("--wait needs a tracker to find the nodes: give --tracker")
	}
	limited, cancel := withDeadline(ctx, f.deadline)
	defer cancel()
	printed := false
	// A node of this command ends with it. What is read from a pipe takes memory, and is of no use without its link.
	forgotten := func() bool { return s.Info.Command || f.Path == "" && !printed }
	var before []string // the ids of transfers that stay
	if forgotten() {
		all, err := s.Transfers(ctx)
		if err != nil {
			return err
		}
		for _, st := range all {
			before = append(before, st.ID)
		}
	}
	st, skipped, err := hashContent(limited, a, s, f.SeedRequest, f.quiet)
	if err != nil && limited.Err() != nil {
		err = errors.Join(err, s.RemoveSeed(f.Path, before))
	}
	if cause := context.Cause(limited); err != nil && errors.Is(cause, errDeadline) {
		return fmt.Errorf("%w: %s was not hashed", cause, path)
	}
	if err != nil {
		return err
	}
	defer func() {
		if forgotten() && !slices.Contains(before, st.ID) {
			err = errors.Join(err, forget(ctx, s, st.ID))
		}
	}()
	if err := writeTorrent(ctx, a, s, st, f); err != nil {
		return err
	}
	noteSkipped(a, skipped)
	if err := printLink(a, st, skipped); err != nil {
		return err
	}
	printed = true
	switch {
	case f.wait > 0:
		return waitForNodes(limited, a, s, st, f)
	case s.Info.Command:
		return serve(ctx, a, s, st)
	}
	return nil
}

// checkSeedable reports why a path cannot be seeded.
func checkSeedable(path string) error {
	if strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") || strings.HasPrefix(path, "/dev/std") {
		return fmt.Errorf("%s cannot be seeded: use `mob seed -`", path) // in the daemon it is another file
	}
	switch fi, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err == nil && fi.Mode()&(os.ModeNamedPipe|os.ModeDevice) != 0:
		return fmt.Errorf("%s is not a file or a directory: pipe it into `mob seed -`", path)
	}
	return nil
}

// hashContent has the daemon hash the content, and shows the progress.
func hashContent(ctx context.Context, a *command.App, s *daemon.Session, req control.SeedRequest, quiet bool) (peer.Status, control.Skipped, error) {
	p := a.Screen(quiet)
	defer p.Clear()
	if req.Path == "" {
		st, err := hashPipe(ctx, a, s, req, p)
		return st, control.Skipped{}, err
	}
	began := time.Now()
	return s.Seed(ctx, req, func(done, total int64) {
		p.Show(hashFrame(filepath.Base(req.Path), done, total, time.Since(began)))
	})
}

// noteSkipped names what a seed left out.
func noteSkipped(a *command.App, s control.Skipped) {
	named := s.Paths[:min(len(s.Paths), maxNumbers)]
	for _, path := range named {
		a.Note("left out, cannot be read: %s", path)
	}
	if more := len(s.Paths) - len(named) + s.More; more > 0 {
		a.Note("left out, cannot be read: %d more", more)
	}
}

// printLink prints the link of a seed.
func printLink(a *command.App, st peer.Status, skipped control.Skipped) error {
	out := map[string]any{
		"link":         st.Link,
		"id":           st.ID,
		"name":         st.Name,
		"path":         st.Root,
		"bytes":        st.Length,
		"pieces":       st.Pieces,
		"piece_length": st.PieceLength,
	}
	if st.InfoHash != "" {
		out["info_hash"] = st.InfoHash
	}
	if len(skipped.Paths) > 0 {
		out["skipped"] = skipped
	}
	if st.Coded > 0 {
		out["coded"] = st.Coded
	}
	if st.Plan != nil {
		out["plan"] = st.Plan.ID
	}
	if st.Strategy != "" {
		out["strategy"] = st.Strategy
	}
	return a.Print(out, func(w term.TextWriter) { w.Line("%s", st.Link) })
}

// serve waits for the interrupt, and warns when the content changes on disk or no tracker answers.
func serve(ctx context.Context, a *command.App, s *daemon.Session, st peer.Status) error {
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		return err
	}
	a.Note("serving %s until Ctrl-C", st.Name)
	p := a.Screen(true)
	var damaged int64
	f := term.State{Remedy: "nodes find this one only by the addresses in the link"}
	for n, ask := 0, 0; ; n++ {
		if n == ask && len(link.Trackers) > 0 {
			f.Reason, ask = "", n+askEvery
			if _, err := s.Fleet(ctx, st.Link); err != nil {
				f.Reason, ask = err.Error(), n+askAgain
			}
		}
		if f.Reason == "" {
			f.At = n
		}
		p.Show(f)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(damageEvery):
		}
		now, err := s.Transfer(ctx, st.ID)
		if err != nil {
			return err
		}
		if now.Damaged > damaged {
			damaged = now.Damaged
			a.Note("warning: %s has changed: %s no longer served; seed it again", st.Root, term.Plural(int(damaged), "piece"))
		}
		if now.Error != "" {
			return errors.New(now.Error)
		}
	}
}

// forget removes content that this command has seeded, so that the next daemon of the data directory does not resume it.
func forget(ctx context.Context, s *daemon.Session, id string) error {
	return daemon.Cleanup(ctx, func(ctx context.Context) error {
		_, err := s.Remove(ctx, id, false)
		if _, ended := errors.AsType[*control.NoDaemonError](err); ended { // with the command that ran it
			return nil
		}
		return err
	})
}
