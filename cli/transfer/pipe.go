package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
)

// pipeArg is standard input as the content of a seed, and standard output as the path of a get.
const pipeArg = "-"

// pipeEvery is the time between two looks at a get to standard output.
const pipeEvery = 500 * time.Millisecond

// hashPipe has the daemon serve standard input, and shows the progress.
func hashPipe(ctx context.Context, a *command.App, s *daemon.Session, req control.SeedRequest, p *term.Screen) (peer.Status, error) {
	reading, began := true, time.Now()
	return s.SeedPipe(ctx, req, a.In, func(done, total int64) {
		if reading && total > 0 {
			reading, began = false, time.Now()
		}
		if reading {
			p.Show(readFrame(req.Name, done, time.Since(began)))
		} else {
			p.Show(hashFrame(req.Name, done, total, time.Since(began)))
		}
	})
}

// readFrame shows the progress of reading standard input.
func readFrame(name string, done int64, took time.Duration) term.State {
	text := fmt.Sprintf("%s read, %s", term.Bytes(done), term.Rate(term.Average(done, took)))
	return term.State{Name: name, Text: text, Notes: []string{text}, At: done, Reason: "waiting for standard input, " + text}
}

// getPipe fetches the content of a link to standard output, and shows the progress.
func getPipe(ctx context.Context, a *command.App, s *daemon.Session, req control.GetRequest, quiet bool) (peer.Status, error) {
	req.Keep = s.Own != nil
	p := a.Screen(quiet)
	defer p.Clear()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var st peer.Status
	done := make(chan error, 1)
	out := &countingWriter{Writer: a.Out}
	go func() { // it may hang in a write
		var err error
		st, err = s.GetTo(ctx, req, out)
		done <- err
	}()
	tick := time.NewTicker(pipeEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil && ctx.Err() != nil {
				err = stopped(ctx, "nothing was kept")
			}
			st.Root = pipeArg
			return st, err
		case <-ctx.Done():
			return peer.Status{}, stopped(ctx, "nothing was kept")
		case <-tick.C:
			now, err := s.Transfer(ctx, req.Link)
			if err != nil {
				_, closed := errors.AsType[*control.NoDaemonError](err)                      // the node ends, or its command waits for this one only
				if ctx.Err() == nil && !closed && !errors.Is(err, peer.ErrUnknownTransfer) { // else the daemon does not have it yet
					p.Note("%v", err)
				}
				continue
			}
			p.Show(pipeFrame(now, out.n.Load()))
			if p.Stalled && now.SourceChanged {
				giveUp(errSourceChanged)
			}
		}
	}
}

// countingWriter counts the bytes that it writes.
type countingWriter struct {
	io.Writer
	n atomic.Int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.n.Add(int64(n))
	return n, err
}

// pipeFrame shows the progress of a get, and once that is complete, of writing it.
func pipeFrame(st peer.Status, written int64) term.State {
	f := getFrame(st)
	if st.Phase == peer.Whole {
		f.Text = fmt.Sprintf("complete, %s of %s written", term.Bytes(written), term.Bytes(st.Length))
		f.Facts, f.Part, f.Notes, f.At = f.Text, written, nil, written
		f.Reason, f.Remedy = "waiting for the reader of standard output", ""
	}
	return f
}
