package stock

import (
	"errors"
	"fmt"
	"os/exec"
)

// Client is a BitTorrent client.
type Client struct {
	name  string
	needs []program
	// command makes the command that seeds or downloads the torrent of an instance until
	// it is killed. It writes the client's settings to the instance's folder, and they
	// create the instance's mark when the content is complete and checked.
	command func(i *Instance) (*exec.Cmd, error)
}

// All lists every client, the fastest on the standard grid first.
func All() []*Client {
	return []*Client{Aria2(), Libtorrent(), Transmission(), Rtorrent()}
}

// Names lists the names of every client.
func Names() []string {
	var names []string
	for _, c := range All() {
		names = append(names, c.name)
	}
	return names
}

// Find returns the client of a name, or nil.
func Find(name string) *Client {
	for _, c := range All() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Name is the client's name in tables.
func (c *Client) Name() string { return c.name }

// Missing is nil if the client is installed; else it says what to install.
func (c *Client) Missing() error {
	var errs []error
	for _, p := range c.needs {
		errs = append(errs, p.missing())
	}
	return errors.Join(errs...)
}

// program is a command of a Debian package.
type program struct {
	command string
	pkg     string
	// try, if not empty, are arguments with which the command succeeds only if the
	// package is installed, for one that is a module of another program.
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
