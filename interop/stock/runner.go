package stock

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// Job is something for a single client to do, in a swarm that is somebody else's.
type Job struct {
	// Node is where the client runs, and Dir gets a folder for it.
	Node *netns.Node
	Dir  string
	// Torrent is the path of a torrent file, whose tracker speaks Scheme: http or udp.
	Torrent, Scheme string
	// Name is what the torrent calls its file.
	Name string
	// Content is the path of the content, for a client that has it and seeds.
	Content string
}

// Runner is a client that runs. Its methods may be called from any goroutine.
type Runner struct {
	m    *member
	name string
}

// Run starts a client. It runs until it is killed.
func (c *Client) Run(j Job) (*Runner, error) {
	marks := filepath.Join(j.Dir, "marks")
	if err := os.MkdirAll(marks, 0o700); err != nil {
		return nil, err
	}
	seat, err := newSeat(j.Node, j.Dir, marks, j.Torrent)
	if err != nil {
		return nil, err
	}
	seat.scheme = j.Scheme
	r := &Runner{m: &member{client: c, seat: seat}, name: j.Name}
	if j.Content != "" {
		if err := os.Symlink(j.Content, r.Copy()); err != nil {
			return nil, err
		}
	}
	return r, r.m.start()
}

// Copy is where the client's copy is.
func (r *Runner) Copy() string { return filepath.Join(r.m.seat.data, r.name) }

// Whole is whether the client says that its copy is whole. It fails when the client
// has ended by itself.
func (r *Runner) Whole() (bool, error) {
	_, failed := r.m.gone() // before the mark: it may be the last that it did
	if r.m.whole() {
		return true, nil
	}
	return false, failed
}

// Kill ends the client, and says what it has used.
func (r *Runner) Kill() (bench.Usage, error) {
	err := r.m.kill()
	return r.m.usage, err
}

// Log is the path of what the client has said.
func (r *Runner) Log() string { return r.m.seat.log() }

// String is the client's name and place.
func (r *Runner) String() string {
	return fmt.Sprintf("%s on %s", r.m.client.name, seatName(r.m.seat.node))
}

// Used is what the client has used so far.
func (r *Runner) Used() bench.Usage {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.run.used()
}
