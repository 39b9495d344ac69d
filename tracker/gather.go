package tracker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	libswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/mobgrid/mob/proto"
)

// ErrNoTracker is returned by a client that has no tracker to ask.
var ErrNoTracker = errors.New("no tracker is configured")

// errClosed is returned by a client after Close.
var errClosed = errors.New("the tracker client is closed")

// noAnswer is why each of the trackers failed.
type noAnswer []error

// Error implements error, on one line.
func (e noAnswer) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = oneLine(err)
	}
	return "no tracker answered: " + strings.Join(texts, "; ")
}

// Unwrap gives the causes, as errors.Join does.
func (e noAnswer) Unwrap() []error { return e }

// oneLine is what went wrong in few words: of a failed dial the cause at each
// address, without libp2p's account of the dialling.
func oneLine(err error) string {
	text := err.Error()
	var dial *libswarm.DialError
	if errors.As(err, &dial) && len(dial.DialErrors) > 0 {
		causes := make([]string, len(dial.DialErrors))
		for i, e := range dial.DialErrors {
			causes[i] = e.Cause.Error()
		}
		before, _, _ := strings.Cut(text, ": failed to dial")
		text = before + ": " + strings.Join(causes, ", ")
	}
	return strings.Join(strings.Fields(text), " ")
}

// answer is the outcome of asking one tracker.
type answer[M proto.Message] struct {
	tracker int
	msg     M
	err     error
}

// gather sends req to all trackers and collects their answers, in the order of
// the trackers: all that come until the grace after the first is over.
func gather[M proto.Message](ctx context.Context, c *Client, req proto.Message) ([]M, error) {
	if len(c.trackers) == 0 {
		return nil, ErrNoTracker
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Encoded here, once: req is the caller's again when the call returns.
	frame, err := proto.AppendFrame(nil, req)
	if err != nil {
		return nil, err
	}
	if !c.begin(len(c.trackers)) {
		return nil, errClosed
	}

	// Requests outlive the call once there is an answer: a slow tracker shall
	// hear of the member too. They do not outlive a caller who gives up before.
	asking, cancel := context.WithCancel(c.life)
	release := context.AfterFunc(ctx, cancel)
	answers := make(chan answer[M], len(c.trackers))
	var left atomic.Int32
	left.Store(int32(len(c.trackers)))
	for i, t := range c.trackers {
		turn := t.queue(req)
		go func() {
			defer c.running.asks.Done()
			defer turn.end()
			defer func() {
				if left.Add(-1) == 0 {
					cancel()
				}
			}()
			msg, err := ask[M](asking, c, turn, frame)
			answers <- answer[M]{i, msg, err}
		}()
	}
	msgs, err := collect(answers, len(c.trackers), c.cfg.Grace)
	release()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return msgs, err
}

// collect waits for n answers, or for the grace after the first good one.
func collect[M proto.Message](answers <-chan answer[M], n int, grace time.Duration) ([]M, error) {
	var over <-chan time.Time
	got, failed := make([]*M, n), make(noAnswer, n)
	for range n {
		select {
		case a := <-answers:
			if a.err != nil {
				failed[a.tracker] = a.err
				continue
			}
			got[a.tracker] = &a.msg
			if over == nil {
				over = time.After(grace)
			}
			continue
		case <-over:
		}
		break
	}
	var msgs []M
	for _, m := range got {
		if m != nil {
			msgs = append(msgs, *m)
		}
	}
	if msgs == nil {
		return nil, failed
	}
	return msgs, nil
}

// ask sends a request to the tracker of turn when its turn has come, and notes
// how it went.
func ask[M proto.Message](ctx context.Context, c *Client, turn *turn, frame []byte) (M, error) {
	var none M
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	reply, err := turn.ask(limited, c.host, frame)
	msg, ok := reply.(M)
	if err == nil && !ok {
		err = unexpected(reply)
	}
	t := turn.tracker
	if ctx.Err() == nil { // a caller who gave up says nothing about the tracker
		t.note(turn.swarm != "", err)
	}
	if err != nil {
		c.cfg.Log.Debug("tracker request failed", "tracker", t.addr, "error", oneLine(err))
		return none, fmt.Errorf("tracker %s: %w", t.addr, err)
	}
	return msg, nil
}

// unexpected is why a reply is not the one that was asked for.
func unexpected(reply proto.Message) error {
	if bye, ok := reply.(*proto.Goodbye); ok {
		return &proto.RemoteError{Code: bye.Code, Text: bye.Text}
	}
	return fmt.Errorf("unexpected reply of type %d", reply.Type())
}
