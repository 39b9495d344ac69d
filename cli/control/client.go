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
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

const (
	// dialTimeout bounds the first answer of a daemon.
	dialTimeout = 5 * time.Second
	// callTimeout bounds a call with one answer: one that stops a transfer waits
	// for its disk, one that asks trackers for the network.
	callTimeout = 30 * time.Second
	// silence is how long a stream may say nothing before the daemon counts as
	// hung.
	silence = 20 * time.Second
)

// NoDaemonError answers [Dial] when no daemon runs in the data folder.
type NoDaemonError struct{ Data string }

// Error implements error.
func (e *NoDaemonError) Error() string {
	return fmt.Sprintf("no daemon runs in %s: start one with `mobd --data %s`, or name another --data", e.Data, e.Data)
}

// Client calls the daemon of a data folder. Its methods may be called from any
// goroutine.
type Client struct {
	Info Info // of the daemon, when it was dialled
	http http.Client
	data string
	path string // of the socket
}

// Dial finds the daemon of a data folder. It fails with [*NoDaemonError] when
// there is none.
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
		c.Close()
		return nil, err
	}
	return c, nil
}

func newClient(data, path string) *Client {
	c := &Client{data: data, path: path}
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	return c
}

// Close lets idle connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Transfers lists all transfers, the oldest first.
func (c *Client) Transfers(ctx context.Context) (list []peer.Status, err error) {
	return list, c.call(ctx, "GET", "/v1/transfers", nil, &list)
}

// Transfer finds a transfer by its content id, link or path.
func (c *Client) Transfer(ctx context.Context, name string) (st peer.Status, err error) {
	return st, c.call(ctx, "GET", "/v1/transfer?name="+url.QueryEscape(name), nil, &st)
}

// Seed has a content hashed and served. It blocks until it is.
func (c *Client) Seed(ctx context.Context, req SeedRequest, progress func(done, total int64)) (peer.Status, error) {
	last, err := c.stream(ctx, "/v1/seed", req, func(ev Event) { progress(ev.Hashed, ev.Total) })
	if err != nil {
		return peer.Status{}, err
	}
	if last.Status == nil {
		return peer.Status{}, c.strange(errors.New("no status at the end of a seed"))
	}
	return *last.Status, nil
}

// Export returns the info dictionary of a transfer, and what the transfer is. It blocks
// until it is made, for which the content may have to be hashed.
func (c *Client) Export(ctx context.Context, req ExportRequest, progress func(done, total int64)) ([]byte, peer.Status, error) {
	last, err := c.stream(ctx, "/v1/export", req, func(ev Event) { progress(ev.Hashed, ev.Total) })
	if err != nil {
		return nil, peer.Status{}, err
	}
	if last.Status == nil {
		return nil, peer.Status{}, c.strange(errors.New("no status at the end of an export"))
	}
	return last.Torrent, *last.Status, nil
}

// Get has a content fetched. It blocks until it is whole. The transfer goes on
// when ctx ends.
func (c *Client) Get(ctx context.Context, req GetRequest, progress func(peer.Status)) (peer.Status, error) {
	var st peer.Status
	_, err := c.stream(ctx, "/v1/get", req, func(ev Event) {
		if ev.Status != nil {
			st = *ev.Status
			progress(st)
		}
	})
	return st, err
}

// Stop ends a transfer and keeps what is there.
func (c *Client) Stop(ctx context.Context, name string) error {
	return c.call(ctx, "POST", "/v1/stop", NameRequest{Name: name}, nil)
}

// Remove forgets a transfer, and deletes what was fetched if content is set. It
// returns what the transfer was.
func (c *Client) Remove(ctx context.Context, name string, content bool) (st peer.Status, err error) {
	return st, c.call(ctx, "POST", "/v1/remove", NameRequest{Name: name, Content: content}, &st)
}

// Fleet asks the trackers of a link how far the nodes are.
func (c *Client) Fleet(ctx context.Context, link *proto.Link) (*Fleet, error) {
	f := new(Fleet)
	return f, c.call(ctx, "POST", "/v1/fleet", LinkRequest{Link: link.String()}, f)
}

// Describe gets what describes the content of a link: its manifest, or its info
// dictionary, unchecked, if the link names no manifest. It blocks until somebody has it.
func (c *Client) Describe(ctx context.Context, link *proto.Link, note func(string)) (*proto.Manifest, []byte, error) {
	last, err := c.stream(ctx, "/v1/describe", LinkRequest{Link: link.String()}, func(ev Event) {
		if ev.Waiting != "" {
			note(ev.Waiting)
		}
	})
	if err != nil || !link.Manifest.Defined() {
		return nil, last.Torrent, err
	}
	m, err := proto.DecodeVerified(link.Manifest, last.Manifest)
	return m, nil, err
}

// call makes a call with one answer.
func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return c.strange(err)
	}
	return nil
}

// stream makes a long call and hands on its events. It returns the last.
func (c *Client) stream(ctx context.Context, path string, body any, each func(Event)) (Event, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hung := time.AfterFunc(silence, func() { cancel(c.hung()) })
	defer hung.Stop()
	resp, err := c.send(ctx, "POST", path, body)
	if err != nil {
		return Event{}, err
	}
	defer resp.Body.Close()
	lines := json.NewDecoder(resp.Body)
	for {
		var ev Event
		err := lines.Decode(&ev)
		hung.Reset(silence)
		switch {
		case ctx.Err() != nil:
			return Event{}, context.Cause(ctx)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
			return Event{}, errors.New("the daemon has ended: start it again, then repeat the command to go on")
		case err != nil:
			return Event{}, c.strange(err)
		}
		each(ev)
		if ev.Error != nil {
			return ev, ev.Error
		}
		if ev.Done {
			return ev, nil
		}
	}
}

// send makes a request. A refusal is an error.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://mobd"+path, bytes.NewReader(b))
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
		return nil, c.strange(fmt.Errorf("status %s", resp.Status))
	}
	return nil, e
}

// explain says what a failure to get an answer means.
func (c *Client) explain(ctx context.Context, err error) error {
	var cause *url.Error
	if errors.As(err, &cause) {
		err = cause.Err // without method and address, which mean nothing to people
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return c.hung()
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s belongs to another user: run the command as that user, or name another --data", c.path)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return &NoDaemonError{Data: c.data}
	}
	return c.strange(err)
}

func (c *Client) hung() error {
	return fmt.Errorf("the daemon at %s does not answer: look at its log, or restart it", c.path)
}

func (c *Client) strange(err error) error {
	return fmt.Errorf("what answers at %s does not speak like mobd (%w): restart the daemon there, or name another --data", c.path, err)
}
