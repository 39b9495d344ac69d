package bench

import (
	"context"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Site is where a system is to run, and with what.
type Site struct {
	Grid *netns.Grid
	// Source has the content at first; Receivers are all other nodes.
	Source    *netns.Node
	Receivers []*netns.Node
	// Content is the path of the content, one file.
	Content string
	// Dir is an empty folder for whatever the system keeps, copies included. It
	// is removed after the run.
	Dir string
}

// System is something that moves a file, as its users run it.
type System interface {
	// Name is what tables call it.
	Name() string
	// Missing is nil when it can run here; else it says what to install.
	Missing() error
	// Prepare starts what runs before the clock does: trackers, daemons, the
	// source with its content hashed and served. It returns when the source is
	// ready; no content moves yet. What was started when it fails is ended.
	Prepare(ctx context.Context, s Site) (Transfer, error)
}

// Transfer is a system on a site, ready to begin. Kill may be called while Fetch
// runs; else one method at a time.
type Transfer interface {
	// Fetch has every receiver fetch the content, and calls whole, from any
	// goroutine, when one has it, is done with checking it, and could be used. It
	// returns when all are whole that were not killed, or with an error when one
	// failed or the context ended.
	Fetch(ctx context.Context, whole func(n *netns.Node)) error
	// Copy is where a receiver's copy is.
	Copy(n *netns.Node) string
	// Kill ends all of the system on a receiver with kill -9.
	Kill(n *netns.Node) error
	// Close ends everything, and returns what it used in all.
	Close() (Usage, error)
}

// Usage is what the processes of a system used, from the start of the fetching
// on where that can be told apart.
type Usage struct {
	// CPU is user and system time of all processes together.
	CPU time.Duration
	// Peak is the most resident memory of any one process, in bytes.
	Peak int64
}
