package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
)

const feedHelp = `A feed is a link that stays the same while its publisher posts new versions of a file or
directory. Followers fetch each version as it is posted: what they have from the version
before is not sent again, and small versions are sent to all followers without a
request.

The publisher signs each version with the feed's key, in its data directory. It need not
stay: a new follower gets the newest version from earlier followers.`

const feedExample = `  LINK=$(mob feed new weights --tracker "$TRACKER")
  mob feed post weights run/step-2000 --note "loss 2.31"
  mob feed follow "$LINK" -o weights --keep 3 --exec 'systemctl reload model@$MOB_VERSION'`

func newFeed(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "feed new|post|follow|rm", Short: "Publish and follow versions of a file or directory", Long: feedHelp, Example: feedExample,
		Commands: []*cobra.Command{newFeedNew(a), newFeedPost(a), newFeedFollow(a), newFeedRm(a)},
	})
}

func newFeedNew(a *command.App) *cobra.Command {
	var trackers []string
	return a.Command(command.Spec{
		Use: "new NAME", Short: "Make a feed, and print its link",
		Long:    "Makes the key of a feed in the data directory, and prints the feed's link.",
		Example: "  LINK=$(mob feed new weights --tracker \"$TRACKER\")",
		Args:    command.Args(1, "NAME"), JSON: true,
		Flags: func(fl *pflag.FlagSet) {
			fl.StringArrayVar(&trackers, "tracker", nil, "`MULTIADDR` of the tracker where publisher and followers meet; repeatable")
		},
		Run: func(ctx context.Context, a *command.App, args []string) (err error) {
			if !utf8.ValidString(args[0]) { // the daemon receives it in JSON
				return command.Usagef("%q is not valid UTF-8: choose another name", args[0])
			}
			addrs, err := daemon.ParseTrackers(trackers)
			if err != nil {
				return command.Usagef("%w", err)
			}
			if err := a.CheckOut(); err != nil {
				return err
			}
			s, err := daemon.DialOrRun(ctx, a, daemon.LocalFlags())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if len(addrs)+len(s.Info.Trackers) == 0 {
				return errors.New("a feed needs a tracker, where followers find the publisher: give --tracker")
			}
			link, err := s.NewFeed(ctx, control.FeedRequest{Name: args[0], Trackers: addrs})
			if err != nil {
				return err
			}
			return a.Print(feed.Settings{Link: link}, func(w term.TextWriter) { w.Line("%s", link) })
		},
	})
}

const feedPostHelp = `Seeds PATH in place, and publishes it as the next version of the feed. Prints the feed's
name, the version and its content id.

The daemon of --data serves the version from then on. Without a daemon the command runs
a node until Ctrl-C. Post each version from a separate path: while the version before is
still at its path, followers get only what differs.`

// feedPost are the flags of feed post.
type feedPost struct {
	control.FeedRequest
	node  daemon.Flags
	push  string
	quiet bool
}

func newFeedPost(a *command.App) *cobra.Command {
	var f feedPost
	return a.Command(command.Spec{
		Use: "post NAME PATH", Short: "Publish a version of a feed", Long: feedPostHelp,
		Example: "  mob feed post weights run/step-2000 --note \"loss 2.31\"",
		Args:    command.Args(2, "NAME", "PATH"), JSON: true, Run: f.run,
		Flags: func(fl *pflag.FlagSet) {
			f.node.Add(a, fl)
			fl.StringVar(&f.Note, "note", "", "text that followers see with the version")
			fl.StringVar(&f.push, "push", "512KiB", "send versions up to `SIZE` without a request, 0 for none")
			fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
		},
	})
}

func (f *feedPost) run(ctx context.Context, a *command.App, args []string) (err error) {
	push, err := humanize.ParseBytes(f.push)
	if err != nil || push > feed.MaxPush {
		return command.Usagef("--push is a size of at most %s", term.Bytes(feed.MaxPush))
	}
	if f.Push = int64(push); push == 0 {
		f.Push = -1
	}
	if !utf8.ValidString(f.Note) {
		return command.Usagef("--note %q is not valid UTF-8", f.Note)
	}
	if args[1] == pipeArg {
		return command.Usagef("standard input cannot be posted: write it to a file; a file of that name is ./-")
	}
	path, err := command.AbsPath(args[1])
	if err != nil {
		return err
	}
	if err := checkSeedable(path); err != nil {
		return err
	}
	s, err := daemon.DialOrRun(ctx, a, &f.node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	info, err := findFeed(ctx, s, args[0])
	if err != nil {
		return err
	}
	if info.Dir != "" { // before hours of hashing
		return fmt.Errorf("this node follows %s, and does not publish it", info.Name)
	}
	l, err := feed.ParseLink(info.Link)
	if err != nil {
		return err
	}
	req := control.SeedRequest{Path: path, SeedOptions: peer.SeedOptions{Trackers: l.Trackers}}
	st, _, err := hashContent(ctx, a, s, req, f.quiet)
	if err != nil {
		return err
	}
	f.Name, f.Content = info.Link, st.ID
	p := a.Screen(f.quiet)
	frame := term.Text(info.Name + ": publishing, which compares the version with the one before")
	v, err := s.Post(ctx, f.FeedRequest, func() { p.Show(frame) })
	p.Clear()
	if err != nil {
		return err
	}
	err = a.Print(v, func(w term.TextWriter) { w.Line("%s %d %s", info.Name, v.Seq, v.ID) })
	if err != nil || !s.Info.Command {
		return err
	}
	return serve(ctx, a, s, st)
}

// findFeed returns a feed of the node by its name, id or link.
func findFeed(ctx context.Context, s *daemon.Session, name string) (feed.Info, error) {
	all, err := s.Feeds(ctx)
	if err != nil {
		return feed.Info{}, err
	}
	return feed.Find(all, name)
}

const feedFollowHelp = `Fetches the newest version of a feed, and each one that follows, to DIR: version 7 is
DIR/7, and DIR/latest is a link that leads to the newest complete version.

The daemon of --data follows from then on, across restarts, until mob feed rm. Without a
daemon the command does until Ctrl-C, and a daemon that starts later continues.

--exec CMD runs CMD with a shell for each complete version, one at a time, with its
number in $MOB_VERSION and its path in $MOB_PATH. --keep N keeps the last N versions,
and removes older ones. --once returns after the first new version, with exit status 1 if
CMD failed.

A daemon runs CMD as its user, writes its output to its own, and follows after --once.
Another follow replaces --keep and --exec, by their defaults if they are not given.`

// feedFollow are the flags of feed follow.
type feedFollow struct {
	feed.Settings
	node  daemon.Flags
	out   string
	once  bool
	quiet bool
	set   *pflag.FlagSet
}

func newFeedFollow(a *command.App) *cobra.Command {
	var f feedFollow
	return a.Command(command.Spec{
		Use: "follow LINK -o DIR", Short: "Fetch the versions of a feed", Long: feedFollowHelp,
		Example: "  mob feed follow \"$LINK\" -o weights --keep 3 --exec 'systemctl reload model@$MOB_VERSION'",
		Args:    command.Args(1, "LINK"), JSON: true, Run: f.run,
		Flags: func(fl *pflag.FlagSet) {
			f.set = fl
			f.node.Add(a, fl)
			fl.StringVarP(&f.out, "output", "o", "", "write versions to `DIR`")
			fl.IntVar(&f.Keep, "keep", 2, "complete versions to keep")
			fl.StringVar(&f.Exec, "exec", "", "run `CMD` with each complete version")
			fl.BoolVar(&f.once, "once", false, "return after one new version")
			fl.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
		},
	})
}

// feedEvery is the time between two looks for a new version.
const feedEvery = 100 * time.Millisecond

func (f *feedFollow) run(ctx context.Context, a *command.App, args []string) (err error) {
	if err := errors.Join(command.CheckPath(f.set, "output"), checkExec(f.set, f.Exec)); err != nil {
		return err
	}
	if f.out == "" {
		return command.Usagef("--output is missing: give a directory")
	}
	if f.Keep < 1 {
		return command.Usagef("--keep %d: must be at least 1", f.Keep)
	}
	if f.Link, err = a.ReadArg(ctx, args[0]); err != nil {
		return err
	}
	if _, err := feed.ParseLink(f.Link); err != nil {
		return command.Usagef("%w", err)
	}
	if f.Dir, err = command.AbsPath(f.out); err != nil {
		return err
	}
	s, err := daemon.DialOrRun(ctx, a, &f.node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	printed := uint64(0) // versions that were complete before are not new
	if info, err := findFeed(ctx, s, f.Link); err == nil && info.Last != nil {
		printed = info.Last.Seq
	}
	if err := s.Follow(ctx, f.Settings); err != nil {
		return err
	}
	if !s.Info.Command && !f.once {
		a.Note("the daemon of %s follows the feed", s.Info.Data)
		return nil
	}
	return f.watch(ctx, a, s, printed)
}

// watch prints versions after the one that was printed last, as they are complete.
func (f *feedFollow) watch(ctx context.Context, a *command.App, s *daemon.Session, printed uint64) error {
	p := a.Screen(f.quiet)
	defer p.Clear()
	for {
		info, err := findFeed(ctx, s, f.Link)
		if err != nil {
			return err
		}
		if v := info.Last; v != nil && v.Seq > printed && v.Seq <= info.Complete { // else it is not recorded yet
			printed = v.Seq
			p.Clear()
			err := a.Print(v, func(w term.TextWriter) {
				w.Line("%s %d %s", info.Name, v.Seq, v.Path)
			})
			if f.once && v.Error != "" { // info.Error may be of the next version
				err = errors.Join(err, errors.New(v.Error))
			}
			if err != nil || f.once {
				return err
			}
		}
		frame := followFrame(info)
		if info.Newest > info.Complete {
			if st, err := s.Transfer(ctx, feed.VersionPath(info.Dir, info.Newest)); err == nil && (st.Phase == peer.Checking || st.Phase == peer.Fetching) {
				frame = getFrame(st)
				frame.Name = fmt.Sprintf("%s, version %d", info.Name, info.Newest)
			}
		}
		p.Show(frame)
		select {
		case <-time.After(feedEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// followFrame shows what a follower waits for.
func followFrame(info feed.Info) term.State {
	s := term.State{Name: info.Name, At: info.Status, Text: "waiting for the next version"}
	switch {
	case info.Error != "":
		s.Text = fmt.Sprintf("version %d: %s", info.Newest, info.Error)
		if s.Reason = s.Text; info.Newest == info.Complete { // otherwise it is tried again
			s.Remedy = "the next version is fetched when it is posted"
		}
	case info.Newest > info.Complete:
		s.Text = fmt.Sprintf("fetching version %d", info.Newest)
		s.Reason, s.Remedy = s.Text, "`mob status` shows the transfer"
	case info.Newest == 0:
		s.Text = "waiting for the first version"
		s.Reason, s.Remedy = fmt.Sprintf("no version is known; %s of the feed", term.Plural(info.Members, "other member")), "are the publisher and the tracker running?"
	}
	s.Notes = []string{s.Text}
	return s
}

func newFeedRm(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "rm NAME|LINK", Short: "End a feed at this node",
		Long: "Ends following or publishing a feed at this node. Versions stay, and are served.\n" +
			"A publisher's key is deleted: no version can be posted from then on.",
		Example: "  mob feed rm weights",
		Args:    command.Args(1, "NAME|LINK"),
		Run: func(ctx context.Context, a *command.App, args []string) (err error) {
			name, err := a.ReadArg(ctx, args[0])
			if err != nil {
				return err
			}
			s, err := daemon.DialOrRun(ctx, a, daemon.LocalFlags())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			return s.RemoveFeed(ctx, name)
		},
	})
}
