package bench

import (
	"context"

	"github.com/mobgrid/mob/interop/netns"
)

// Site is the nodes on which a system runs, and the content.
type Site struct {
	Grid *netns.Grid
	// Case is the case that runs on them.
	Case *Case
	// Source has the content at first; Receivers are all other nodes.
	Source    *netns.Node
	Receivers []*netns.Node
	// Content is the path of the content, one file.
	Content string
	// Dir is an empty directory for all files of the system, copies
	// included. It is removed after the run.
	Dir string
}

// System is a program that distributes a file, run as its users run it.
type System interface {
	// Name is the name in tables.
	Name() string
	// Missing is nil if the system can run here; else it names the package to install.
	Missing() error
	// Prepare starts what runs before the clock does: trackers, daemons, the source with
	// its content hashed and served. It returns when the source is ready; no bytes of it
	// are sent yet. If it fails, it has ended all that it started.
	Prepare(ctx context.Context, s Site) (Transfer, error)
}

// Transfer is a system on a site, ready to begin. Kill may be called while Fetch runs;
// apart from that, methods are called one at a time.
type Transfer interface {
	// Fetch has every receiver fetch the content. It calls complete, from any goroutine,
	// when a receiver has the content complete and checked, and it could be used. Fetch
	// returns when all receivers that were not killed are complete, or with an error when
	// one failed or ctx ended.
	Fetch(ctx context.Context, complete func(n *netns.Node)) error
	// Copy is the path of a receiver's copy.
	Copy(n *netns.Node) string
	// Kill ends the system on a receiver with SIGKILL.
	Kill(n *netns.Node) error
	// Close ends all processes, and returns what they have used, from the start of the
	// fetching on where that can be told apart.
	Close() (netns.Usage, error)
}
