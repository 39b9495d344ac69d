package stock

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"

	"github.com/mobgrid/mob/interop/bench"
)

var _ bench.System = (*Client)(nil)

// Client is a BitTorrent client as a system under comparison.
type Client struct {
	name    string
	needs   []program
	tracker *Tracker // nil for Opentracker
	// start makes the command that has a seat's content fetched, or seeded when it
	// is there, until it is killed. It writes what the command needs to the
	// seat's folder, and sees to it that the seat's mark is made when the content
	// is whole and checked.
	start func(s seat) (*exec.Cmd, error)
}

// All has every client, the fastest on the standard grid first.
func All() []*Client {
	return []*Client{Aria2(), Libtorrent(), Transmission(), Rtorrent()}
}

// Name is what tables call the client.
func (c *Client) Name() string { return c.name }

// With is the client with another tracker than opentracker.
func (c *Client) With(t *Tracker) *Client {
	with := *c
	with.tracker = t
	return &with
}

// usedTracker is the tracker of the client's swarms.
func (c *Client) usedTracker() *Tracker { return cmp.Or(c.tracker, Opentracker()) }

// Missing is nil when the client and the tracker are installed; else it says what
// to install.
func (c *Client) Missing() error {
	return errors.Join(c.usedTracker().Missing(), c.Installed())
}

// Installed is Missing for who has a tracker.
func (c *Client) Installed() error {
	var errs []error
	for _, p := range c.needs {
		errs = append(errs, p.missing())
	}
	return errors.Join(errs...)
}

// program is something that has to be installed.
type program struct {
	command string
	// pkg is Debian's package that has it.
	pkg string
	// try, if not empty, are arguments with which the command succeeds only when
	// the package is there: for what is a module of another program.
	try []string
}

func (p program) missing() error {
	path, err := exec.LookPath(p.command)
	if err == nil && len(p.try) > 0 {
		err = exec.Command(path, p.try...).Run()
	}
	if err != nil {
		return fmt.Errorf("%s is not installed: apt-get install %s", p.pkg, p.pkg)
	}
	return nil
}
