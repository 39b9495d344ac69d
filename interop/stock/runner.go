package stock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// Job is something for a single client to do, in a swarm that is somebody else's.
type Job struct {
	// Node is where the client runs, and Dir gets a folder for it.
	Node *netns.Node
	Dir  string
	// Torrent is the path of a torrent file, or a magnet link, whose tracker speaks Scheme: http or udp.
	Torrent, Scheme string
	// Name is what the torrent calls its file.
	Name string
	// Content is the path of the content, for a client that has it and seeds.
	Content string
}

// Runner is a client with something to do. Its methods may be called from any
// goroutine.
type Runner struct {
	m    *member
	name string
}

// Place makes what a client needs, and does not start it. What a client has left in
// the same folder, as one does that was killed, this one takes up.
func (c *Client) Place(j Job) (*Runner, error) {
	for _, path := range []*string{&j.Dir, &j.Torrent, &j.Content} { // clients run in folders of their own
		abs, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		if *path != "" && !strings.HasPrefix(*path, "magnet:") {
			*path = abs
		}
	}
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
		return r, link(j.Content, r.Copy())
	}
	return r, nil
}

// Run starts a client. It runs until it is killed.
func (c *Client) Run(j Job) (*Runner, error) {
	r, err := c.Place(j)
	if err != nil {
		return nil, err
	}
	return r, r.Start()
}

// Start has the client run until it is killed, unless that has happened already.
func (r *Runner) Start() error { return r.m.start() }

// Await waits until clients have their copies, and calls whole for each that has. It
// does not wait for one that is killed, and fails when one ends by itself.
func Await(ctx context.Context, clients []*Runner, whole func(n *netns.Node)) error {
	members := make([]*member, len(clients))
	for i, r := range clients {
		members[i] = r.m
	}
	return await(ctx, members, func() error { return nil }, whole)
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
	if r.m.run == nil {
		return bench.Usage{}
	}
	return r.m.run.used()
}
