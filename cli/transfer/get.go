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

const getHelp = `Fetches the content of a link or a torrent file, verifies every piece, and returns
when it is complete.

LINK may also be a BitTorrent magnet link, and FILE a torrent file. Other users of this
machine see a link in the arguments of a command (ps): "mob get -" reads it from
standard input, and "mob get @PATH" from a file. Nodes that fetch the same torrent share
it as a mob, and verify it by SHA-1: they need a tracker of mob in common (--tracker),
and one of them --bt-listen, to fetch from BitTorrent clients.

-o - writes a single file to standard output, in order, while it arrives, and the
receipt to standard error. Nothing is left on the disk, and nothing is resumed.

PATH is the file or directory to create, not its parent, and by default the link's name
in the current directory. With a slash at its end it is the directory for the content.
Directories above are made. A name that begins with a dot is only taken from PATH. PATH
must not exist; --reuse keeps existing files, such as an older copy, and fetches only
pieces that differ. A transfer that does not fit on the disk is not started.

--include fetches only the files that a glob matches, and --exclude leaves files out.
Both may be given several times. A glob is compared with the path in the content: * and
? do not match a slash, ** matches any number of directories, and a directory means
everything below it. "mob inspect" lists the files. A later get of the same link adds
files: all of them without --include and --exclude. What an earlier get has chosen is
not left out. A piece that two files share is fetched for either of them.

Modes and times are copied from the source. A umask of the daemon (or of a command
without one) that takes read permission, such as 027 or 077, is removed from the modes;
other umasks are not. Files lose setuid, setgid and sticky, and the receipt has their
number; root keeps the bits with --special-bits.

The daemon of --data does the work, and serves the content afterwards. Without a daemon
the command runs a node itself. Once that is complete, it serves the other nodes of its
site (the first part of --cluster) until they are complete, request nothing for 10 s, or
--linger is over. --linger 0 leaves immediately. With --stay it serves until Ctrl-C.

--exec runs a command with sh, once the content is complete and on the disk, and after
the receipt. Its environment has MOB_PATH, the absolute path of the content, and MOB_ID,
its id. The get exits with the status of the command. An interrupt is sent to the command,
and what is left of it after 10 s is killed.

While a transfer of this node with a higher --priority receives or sends, the lower ones
share 5 % of the bytes in that direction, at least 64 KiB/s. "mob limit --for PATH
--priority" changes it.

A get waits for its source. It ends if the files of the source were changed and
no connected node has a piece.

Ctrl-C stops the transfer and keeps what was fetched: the same command resumes it. So
does --deadline 10m after ten minutes, with exit status 1. If the terminal is closed
(SIGHUP), the daemon continues.`

const getExample = `  mob get "$LINK" -o big.tar
  mob get "$LINK" --cluster lyon --stay
  mob get "$LINK" --deadline 10m
  mob get "$LINK" --cluster lyon --linger 1m
  ssh source mob seed big.tar | mob get -
  mob get "$LINK" -o - | tar x
  mob get big.iso.torrent --bt-listen 0.0.0.0:6881 --tracker "$TRACKER"
  mob get "$LINK" -o models --reuse --json
  mob get "$LINK" -o models --include 'llama/**/*.json' --include tokenizer --exclude '**/old'
  mob get "$LINK" -o backup --priority low
  mob get "$LINK" -o image.tar --exec 'docker load -i "$MOB_PATH"'`

// getFlags are the flags of get. Some are fields of its request.
type getFlags struct {
	control.GetRequest
	node     daemon.Flags
	out      string
	stay     bool
	linger   time.Duration // the longest time to serve the site after the download, without mobd and stay
	deadline time.Duration
	exec     string
	quiet    bool
	set      *pflag.FlagSet
}

func newGet(a *command.App) *cobra.Command {
	var f getFlags
	return a.Command(command.Spec{
		Use: "get LINK|FILE [-o PATH]", Short: "Fetch the content of a link or torrent file", Long: getHelp, Example: getExample,
		Args: command.Args(1, "LINK|FILE"), Flags: func(fl *pflag.FlagSet) { f.add(a, fl) }, JSON: true, Run: f.run,
	})
}

func (f *getFlags) add(a *command.App, fl *pflag.FlagSet) {
	f.set = fl
	f.node.Add(a, fl)
	fl.StringVarP(&f.out, "output", "o", "", "file or directory to create, or - for standard output")
	fl.BoolVar(&f.Reuse, "reuse", false, "keep existing files at PATH")
	fl.StringArrayVar(&f.Select.Include, "include", nil, "fetch only files that `GLOB` matches")
	fl.StringArrayVar(&f.Select.Exclude, "exclude", nil, "do not fetch files that `GLOB` matches")
	fl.BoolVar(&f.SpecialBits, "special-bits", false, "keep the setuid and setgid bits of files, as root")
	fl.StringVar(&f.exec, "exec", "", "run `CMD` once the content is complete")
	fl.DurationVar(&f.deadline, "deadline", 0, "stop after `D`, and keep what was fetched")
	daemon.AddPriority(fl, &f.Priority)
	fl.DurationVar(&f.linger, "linger", 10*time.Minute, "time to serve the site after the download, at most")
	fl.BoolVar(&f.stay, "stay", false, "serve the content until Ctrl-C")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
}

func (f *getFlags) run(ctx context.Context, a *command.App, args []string) (err error) {
	if err := errors.Join(command.CheckPath(f.set, "output", pipeArg), checkExec(f.set, f.exec), checkDeadline(f.set, f.deadline)); err != nil {
		return err
	}
	if f.linger < 0 {
		return command.Usagef("--linger %v: must not be negative", f.linger)
	}
	if err := f.Select.Check(); err != nil {
		return command.Usagef("%w", err)
	}
	pipe := f.out == pipeArg
	if pipe && (f.Reuse || f.SpecialBits || f.exec != "" || !f.Select.All()) {
		return command.Usagef("--reuse, --special-bits, --include, --exclude and --exec are for files: give a path with -o")
	}
	text, err := a.ReadArg(ctx, args[0])
	if err != nil {
		return err
	}
	link, err := f.parse(text)
	if err != nil {
		return err
	}
	f.Link, f.Flush = link.String(), f.exec != ""
	if pipe {
		err = a.CheckOut()
	} else if f.Path, err = destination(f.out, link); err == nil {
		err = checkNotOut(a, f.Path)
	}
	if err != nil {
		return err
	}
	s, err := daemon.DialOrRun(ctx, a, &f.node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !pipe && s.Info.UID != os.Getuid() && os.Getuid() != 0 {
		// Directories that the daemon makes would not be this user's.
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
			return err
		}
	}
	get := fetch
	if pipe {
		get = getPipe
	}
	fetching, cancel := withDeadline(ctx, f.deadline)
	defer cancel()
	st, err := get(fetching, a, s, f.GetRequest, f.quiet)
	if err != nil {
		return explainExists(err, f.Path, link, f.Reuse)
	}
	if pipe {
		a = a.Onto(a.Err)
	}
	if err := printReceipt(a, st); err != nil {
		return err
	}
	if err := runCommand(ctx, a, f.exec, st); err != nil {
		return err
	}
	switch {
	case f.stay && (s.Own != nil || s.Info.Command && !pipe):
		a.Note("serving %s until Ctrl-C", st.Name)
		return stay(ctx, s)
	case s.Own == nil:
		return nil
	}
	if t, err := s.OwnTransfer(st.ID); err == nil { // else it was removed since, as by the command
		linger(ctx, a, t, s.Info.Cluster, f.linger)
	}
	s.Drain(ctx, a)
	return nil
}

// stay waits for the interrupt. It fails if another command runs the node, and ends.
func stay(ctx context.Context, s *daemon.Session) (err error) {
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(damageEvery):
		}
		if s.Own == nil {
			_, err = s.Limits(ctx)
		}
	}
	return err
}

// parse returns the link of an argument, with the trackers of --tracker added. The info dictionary of a torrent file
// goes into the request.
func (f *getFlags) parse(text string) (link *proto.Link, err error) {
	trackers, err := daemon.ParseTrackers(f.node.TrackerAddrs)
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	if fi, err := os.Stat(text); err == nil && fi.Mode().IsRegular() {
		m, err := daemon.ReadTorrent(text)
		if err != nil && !daemon.IsTorrent(text) {
			err = fmt.Errorf("%w: if the file has a link, give @%s", err, text)
		}
		if err != nil {
			return nil, err
		}
		link, f.Torrent = daemon.TorrentLink(m), m.Info
	} else {
		link, err = command.ParseLink(text)
		if err != nil && strings.HasSuffix(text, ".torrent") {
			err = fmt.Errorf("%s does not exist", text)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, t := range trackers {
		if !slices.ContainsFunc(link.Trackers, t.Equal) {
			link.Trackers = append(link.Trackers, t)
		}
	}
	return link, nil
}

// destination returns the absolute path of the content to create.
func destination(out string, link *proto.Link) (string, error) {
	if out == "" || isDirName(out) {
		if link.Name == "" {
			return "", errors.New("the link has no name: quote it, as a shell ends a command at &, or say where to put the content with -o PATH")
		}
		var err error
		if out, err = chosenPath(out, link.Name, "-o"); err != nil { // the name is a single path element: ParseLink checks
			return "", err
		}
	}
	return command.AbsPath(out)
}

// checkNotOut fails if a path leads to standard output, which the daemon cannot open.
func checkNotOut(a *command.App, path string) error {
	if info, err := os.Stat(path); err == nil && a.IsOut(info) {
		return fmt.Errorf("%s is standard output: -o - writes the content there", path)
	}
	return nil
}

// explainExists adds a remedy to the error of an existing destination.
func explainExists(err error, path string, link *proto.Link, reuse bool) error {
	if e, ok := errors.AsType[*control.Error](err); !ok || e.Code != control.CodeExists {
		return err
	}
	if at, err := os.Lstat(path); err == nil && at.Mode().Type() == os.ModeSymlink {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return fmt.Errorf("%s exists already, as a link to %s: give that path, or choose another one", path, to)
		}
	}
	if reuse {
		return fmt.Errorf("%s exists and is another kind of file than the content, which --reuse cannot keep: choose another path", path)
	}
	other := "another path"
	fi, err := os.Stat(path)
	switch {
	case err != nil || !fi.IsDir() && !fi.Mode().IsRegular(): // a pipe, or a link to nothing
		return fmt.Errorf("%s exists already: choose another path", path)
	case fi.IsDir() && link.Name != "":
		other = "one in it, such as -o " + filepath.Join(path, link.Name)
	}
	return fmt.Errorf("%s exists already: choose %s, or keep the existing files with --reuse", path, other)
}

// errSourceChanged ends a fetch that no peer can complete.
var errSourceChanged = errors.New("the files of the source were changed, and no connected peer has any piece of the content: " +
	"`mob seed` it again and use the new link, or put the files back as they were")

// fetch fetches the content through the daemon, and shows the progress. An interrupt
// stops the transfer, and so does a stall without any source. Content of a node that ends with
// a command is on the disk afterwards.
func fetch(ctx context.Context, a *command.App, s *daemon.Session, req control.GetRequest, quiet bool) (peer.Status, error) {
	req.Flush = req.Flush || s.Info.Command
	p := a.Screen(quiet)
	defer p.Clear()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	chosen := !req.Select.All()
	noteAll := func(st peer.Status) {
		if chosen && st.LeftOut.Files == 0 && (st.Phase == peer.Fetching || st.Phase == peer.Whole) {
			p.Clear()
			a.Note("all files are fetched: --include and --exclude leave out none, or an earlier get has chosen all")
			chosen = false
		}
	}
	st, err := s.Get(ctx, req, func(st peer.Status) {
		noteAll(st)
		p.Show(getFrame(st))
		if p.Stalled && st.SourceChanged {
			giveUp(errSourceChanged)
		}
	})
	if err == nil {
		noteAll(st)
		return st, nil
	}
	p.Clear()
	if ctx.Err() == nil {
		return st, err
	}
	if !s.Info.Command && errors.Is(context.Cause(ctx), command.ErrHangup) {
		return st, command.Interruptedf("the terminal was closed: the daemon continues")
	}
	err = daemon.Cleanup(ctx, func(ctx context.Context) error {
		if now, err := s.Transfer(ctx, req.Link); err == nil && (now.Seed || now.Phase == peer.Whole) {
			st = now // it serves on
			return nil
		}
		return s.Stop(ctx, req.Link)
	})
	if err != nil && !errors.Is(err, peer.ErrUnknownTransfer) {
		return st, command.Interruptedf("interrupted, but the transfer was not stopped: %v", err)
	}
	kept := "nothing was fetched yet"
	if st.ID != "" && st.Length >= 0 { // a status has arrived
		kept = fmt.Sprintf("kept %s of %s", term.Bytes(st.Have), term.Bytes(st.Length))
	}
	if !errors.Is(context.Cause(ctx), errSourceChanged) {
		kept += "; run the same command to resume"
	}
	return st, stopped(ctx, kept)
}

// stopped returns the error of a fetch whose context has ended. kept says which bytes remain.
func stopped(ctx context.Context, kept string) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errSourceChanged) || errors.Is(cause, errDeadline) {
		return fmt.Errorf("stopped: %w; %s", cause, kept)
	}
	return command.Interruptedf("stopped: %s", kept)
}

// linger serves complete content to the incomplete nodes of the site, for at most longest or until ctx ends.
func linger(ctx context.Context, a *command.App, t *peer.Transfer, cluster string, longest time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if longest <= 0 {
		return
	}
	n := t.Incomplete(ctx, peer.Site)
	if n == 0 {
		return
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	a.Note("complete; serving %s of %s that %s not (at most %s, Ctrl-C leaves)",
		term.Plural(n, "node"), proto.ClusterGroup(cluster, 1), verb, strings.Replace(longest.String(), "m0s", "m", 1))
	_ = t.WaitAll(ctx, peer.Site) // the content is complete, whatever ends the wait
}
