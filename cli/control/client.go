package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const (
	// dialTimeout bounds the first answer of a daemon.
	dialTimeout = 5 * time.Second
	// callTimeout bounds a call with one answer, which may wait for a disk, to stop
	// a transfer, or for the network, to ask trackers.
	callTimeout = 30 * time.Second
	// streamTimeout bounds the time between two events of a stream, in seconds.
	streamTimeout = 20
)

// errExited reports that a daemon ended while it was called.
var errExited = errors.New("the daemon exited: start it again, then run the same command to resume")

// NoDaemonError reports that no daemon runs in the data directory.
type NoDaemonError struct{ Data string }

// Error implements error.
func (e *NoDaemonError) Error() string {
	return fmt.Sprintf("no daemon is running in %s: start mobd with this --data, or give another one", e.Data)
}

// Client calls the daemon of a data directory, each time over a new connection. Its methods may be called from any goroutine.
type Client struct {
	Info Info // of the daemon, when it was dialed
	http http.Client
	data string
	path string // of the socket
}

// Dial connects to the daemon of a data directory. It fails with [*NoDaemonError] when there is none.
func Dial(ctx context.Context, data string) (*Client, error) {
	return dial(ctx, data, dialTimeout)
}

func dial(ctx context.Context, data string, timeout time.Duration) (*Client, error) {
	path, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	c := newClient(data, path)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := c.call(ctx, "GET", "/v1/node", nil, &c.Info); err != nil {
		return nil, err
	}
	return c, nil
}

func newClient(data, path string) *Client {
	c := &Client{data: data, path: path}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	c.http.Transport = &http.Transport{DialContext: dial, DisableKeepAlives: true, ReadBufferSize: streamBuffer}
	return c
}

// Transfers lists all transfers, oldest first.
func (c *Client) Transfers(ctx context.Context) (list []peer.Status, err error) {
	return list, c.call(ctx, "GET", "/v1/transfers", nil, &list)
}

// Transfer returns a transfer by its content id, link or path.
func (c *Client) Transfer(ctx context.Context, name string) (st peer.Status, err error) {
	return st, c.call(ctx, "GET", "/v1/transfer?name="+url.QueryEscape(name), nil, &st)
}

// Visit is like Transfer, and has the daemon connect to all members of the swarm, so that
// the status counts the nodes that have all of the content.
func (c *Client) Visit(ctx context.Context, name string) (st peer.Status, err error) {
	return st, c.call(ctx, "GET", "/v1/transfer?visit&name="+url.QueryEscape(name), nil, &st)
}

// Seed hashes and serves a file or directory. It blocks until the content is served, and
// calls progress, in bytes, until then. It returns the entries that were left out.
func (c *Client) Seed(ctx context.Context, req SeedRequest, progress func(done, total int64)) (peer.Status, Skipped, error) {
	last, err := c.stream(ctx, "/v1/seed"+placeQuery(req.Path), req, func(ev Event) { progress(ev.Hashed, ev.Total) })
	return last.status(), last.Skipped, err
}

// Export returns the info dictionary of a transfer, and its status.
func (c *Client) Export(ctx context.Context, name string) (info []byte, st peer.Status, err error) {
	last, err := c.stream(ctx, "/v1/export", NameRequest{Name: name}, func(Event) {}) // a daemon of an older version hashes the content
	return last.Torrent, last.status(), err
}

// Verify rehashes the content of a transfer, and repairs it if repair is set. It blocks until
// that is done, and calls progress with each event.
func (c *Client) Verify(ctx context.Context, name string, repair bool, progress func(Event)) (*peer.Verification, peer.Status, error) {
	last, err := c.stream(ctx, "/v1/verify", NameRequest{Name: name, Repair: repair}, progress)
	if err == nil && last.Verification == nil {
		err = c.unexpected(errors.New("no verification at the end"))
	}
	return last.Verification, last.status(), err
}

// Get fetches the content of a link. It blocks until the content is complete. The transfer
// continues when ctx ends; [Client.Stop] ends it. Get fails if the daemon sees
// another file system at the path, before and after.
func (c *Client) Get(ctx context.Context, req GetRequest, progress func(peer.Status)) (peer.Status, error) {
	var st peer.Status
	last, err := c.stream(ctx, "/v1/get"+placeQuery(req.Path), req, func(ev Event) {
		if ev.Status != nil {
			st = *ev.Status
			progress(st)
		}
	})
	if err == nil {
		err = checkPlace(req.Path, placeOf(nil, req.Path), last.Place) // something may be mounted there since
	}
	return st, err
}

// Stop ends a transfer and keeps its files.
func (c *Client) Stop(ctx context.Context, name string) error {
	return c.call(ctx, "POST", "/v1/stop", NameRequest{Name: name}, nil)
}

// Remove forgets a transfer, and deletes what was fetched if content is set, which takes long for many files on a slow disk. It
// blocks until that is done.
func (c *Client) Remove(ctx context.Context, name string, content bool) (r Removal, err error) {
	return r, c.wait(ctx, "POST", "/v1/remove", NameRequest{Name: name, Content: content}, &r)
}

// Limits returns the limits of the node.
func (c *Client) Limits(ctx context.Context) (l Limits, err error) {
	return l, c.call(ctx, "GET", "/v1/limit", nil, &l)
}

// SetLimits changes limits, and returns the limits of the node.
func (c *Client) SetLimits(ctx context.Context, req LimitRequest) (l Limits, err error) {
	return l, c.call(ctx, "POST", "/v1/limit", req, &l)
}

// Fleet asks the trackers of a link for the progress of all nodes.
func (c *Client) Fleet(ctx context.Context, link string) (f proto.Scrape, err error) {
	return f, c.call(ctx, "POST", "/v1/fleet", LinkRequest{Link: link}, &f)
}

// Topology asks the trackers of a link for the measurements of the nodes of its swarm.
func (c *Client) Topology(ctx context.Context, link *proto.Link) (t Topology, err error) {
	return t, c.call(ctx, "POST", "/v1/topology", LinkRequest{Link: link.String()}, &t)
}

// Describe returns the manifest of a link, verified, or its info dictionary, not
// verified, if the link or the daemon has no manifest. It blocks until a node has it, and
// calls waiting with the reason until then.
func (c *Client) Describe(ctx context.Context, link *proto.Link, waiting func(string)) (*proto.Manifest, []byte, error) {
	last, err := c.stream(ctx, "/v1/describe", LinkRequest{Link: link.String()}, func(ev Event) {
		if ev.Waiting != "" {
			waiting(ev.Waiting)
		}
	})
	if err != nil || last.Manifest == nil || !link.Manifest.Defined() {
		return nil, last.Torrent, err
	}
	m, err := proto.DecodeVerified(link.Manifest, last.Manifest)
	return m, nil, err
}

// call makes a call with one answer, which comes within callTimeout.
func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.wait(ctx, method, path, body, out)
}

// wait makes a call with one answer.
func (c *Client) wait(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return c.explain(ctx, err)
	}
	return nil
}

// stream makes a long call, passes its events to each, and returns the last one.
func (c *Client) stream(ctx context.Context, path string, body any, each func(Event)) (Event, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var busy atomic.Bool    // each runs, which may wait for a terminal, as after Ctrl-S
	var silent atomic.Int64 // seconds in which this process ran and waited for an event
	go func() {
		for silent.Load() <= streamTimeout { // it may be stopped for any time, as by Ctrl-Z
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
			if !busy.Load() {
				silent.Add(1)
			}
		}
		cancel(c.hung())
	}()
	resp, err := c.send(ctx, "POST", path, body)
	if err != nil {
		return Event{}, err
	}
	defer resp.Body.Close()
	lines := json.NewDecoder(resp.Body)
	for {
		var ev Event
		err := lines.Decode(&ev)
		if err != nil && ctx.Err() != nil {
			return Event{}, context.Cause(ctx)
		}
		if err != nil {
			return Event{}, c.explain(ctx, err)
		}
		busy.Store(true)
		each(ev)
		silent.Store(0)
		busy.Store(false)
		if ev.Error != nil {
			return ev, ev.Error
		}
		if ev.Done && ev.Status == nil && ev.Manifest == nil && ev.Torrent == nil {
			return ev, c.unexpected(errors.New("no result at the end"))
		}
		if ev.Done {
			return ev, nil
		}
	}
}

// send makes a request with body, which is sent as JSON unless it is a reader. A rejection is an error.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	in, ok := body.(io.Reader)
	if !ok {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://mobd"+path, in)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	e := new(Error)
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxRequest)).Decode(e); err != nil || e.Text == "" {
		return nil, c.unexpected(fmt.Errorf("status %s", resp.Status))
	}
	return nil, e
}

// explain adds the cause of a failure to read an answer, and a remedy.
func (c *Client) explain(ctx context.Context, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without method and URL
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return c.hung()
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s belongs to another user: run the command as that user, or give another --data", c.path)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return &NoDaemonError{Data: c.data}
	case c.Info.ID != "" && endOfConn(err):
		return errExited
	case endOfConn(err):
		return fmt.Errorf("%s: the daemon closed the connection: it ends, or this user has hundreds of "+
			"connections: end other commands of this user, or try again", c.path)
	}
	return c.unexpected(err)
}

// endOfConn reports whether err means that the other end has closed. net/http then closes this end too, which another of its
// goroutines may meet first, and has a text for a connection that is closed before the request is sent.
func endOfConn(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.HasSuffix(err.Error(), "server closed idle connection")
}

func (c *Client) hung() error {
	return fmt.Errorf("the daemon at %s does not answer: look at its log, or restart it", c.path)
}

func (c *Client) unexpected(err error) error {
	return fmt.Errorf("%s does not answer as mobd does (%w): restart the daemon there, or give another --data", c.path, err)
}
