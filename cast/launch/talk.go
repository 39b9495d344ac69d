package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	// chunk is how much of an archive is written at a time, in bytes.
	chunk = 64 << 10
	// maxDownloads is how many downloads from neighbours a host tries.
	maxDownloads = 2
)

// talk is the conversation of a login with a host, up to the hello.
type talk struct {
	*login
	process *Process
	alive   context.Context // until the process has ended
	watch   watch
	spoken  bool // the host has said something

	archive   *archive // if it needs it
	depot     *depot   // from where it gets it
	claim     *claim   // on the depot, until it has ended
	got       bool     // the host has reported that it has it
	stall     *time.Timer
	downloads int // that failed
}

// run answers what the script needs and returns after the hello. When there is nothing more to
// be heard it returns io.EOF.
func (t *talk) run() error {
	defer t.watch.stop()
	t.watch.expect(t.times.login)
	for {
		m, err := t.next()
		if err != nil {
			return err
		}
		switch {
		case m.Hello != nil:
			t.serve(m.Hello)
			t.end(true)
			return nil
		case m.Need != "":
			err = t.need(m)
		case m.Failed:
			err = t.failed()
		case m.Got:
			if t.claim == nil || t.got {
				return errors.New("the host reports a program that it was not sent")
			}
			t.got = true
			if t.claim != nil && t.claim.from != nil {
				t.end(true) // one that got it from the remote shell ends its turn as a server
			}
			t.cfg.Note(t.host, "start")
			t.watch.expect(t.times.start)
		}
		if err != nil {
			return err
		}
	}
}

// next returns the next message.
func (t *talk) next() (*message, error) {
	for {
		record, err := t.process.Next()
		if err != nil {
			return nil, err
		}
		m := new(message)
		if json.Unmarshal(record, m) == nil {
			t.spoken = true
			t.leave()
			return m, nil
		}
	}
}

// need finds the program that the host needs.
func (t *talk) need(m *message) error {
	if t.archive != nil {
		return errors.New("the host needs the program twice")
	}
	pf := parseUname(clean([]byte(m.Need[:min(len(m.Need), maxLine)])))
	program := t.cfg.Programs.of(pf)
	if program == nil {
		return t.cfg.Programs.missing(pf)
	}
	t.cfg.Note(t.host, "program")
	t.watch.stop() // what follows depends on others
	var err error
	if t.archive, err = program.archive(); err != nil {
		return err
	}
	t.depot = t.depotOf(place{t.cluster, pf})
	t.shell = t.shell || m.By == ""
	return t.upload(nil)
}

// failed goes on after the script did not get the program.
func (t *talk) failed() error {
	if t.claim == nil {
		return errors.New("the host failed to get what it was not sent")
	}
	from := t.claim.from
	if from == nil {
		return errors.New("the program was damaged on its way")
	}
	t.end(false)
	t.cfg.Log.Debug("a download failed", "host", t.host, "from", from.Addrs)
	t.downloads++
	t.shell = t.shell || t.downloads == maxDownloads
	return t.upload(from)
}

// upload waits for a turn at the depot, and sends the archive, or from where to get it: not from one from
// which that has failed.
func (t *talk) upload(not *server) error {
	var err error
	if t.claim, err = t.depot.wait(t.alive, t.shell, not); err != nil {
		return io.EOF // its end says why
	}
	t.watch.expect(t.times.upload)
	depot, claim := t.depot, t.claim
	t.stall = time.AfterFunc(t.times.stall, func() { depot.stalled(claim) })
	if from := claim.from; from != nil {
		t.say("get %s %d %s %s", t.archive.sum, len(t.archive.data), from.Path, strings.Join(from.Addrs, " "))
		return nil
	}
	t.say("put %s %d", t.archive.sum, len(t.archive.data))
	for part := range slices.Chunk(t.archive.data, chunk) {
		if _, err := t.process.in.Write(part); err != nil {
			return nil // the host says why, or ends
		}
		t.watch.expect(t.times.upload)
		t.stall.Reset(t.times.stall)
	}
	return nil
}

// say sends a line to the script.
func (t *talk) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.process.in, format+"\n", args...) // if it fails the host says why, or ends
}

// end ends the claim on the depot, if there is one.
func (t *talk) end(ok bool) {
	if t.claim == nil {
		return
	}
	t.stall.Stop()
	t.depot.end(t.claim, ok)
	t.claim = nil
}

// serve adds the host to the servers of its depot, for as long as its program runs.
func (t *talk) serve(h *Hello) {
	system, arch, _ := strings.Cut(h.Platform, "/")
	pf := platform{system, arch}
	if !h.isServer() || t.cfg.Programs.of(pf) == nil {
		return
	}
	s, d := &server{Hello: *h}, t.depotOf(place{t.cluster, pf})
	d.add(s)
	context.AfterFunc(t.alive, func() { d.remove(s) })
}

// watch kills a process that shows no sign of life.
type watch struct {
	process *Process
	timer   *time.Timer
}

// expect expects one within d from now, and none before.
func (w *watch) expect(d time.Duration) {
	w.stop()
	w.timer = time.AfterFunc(d, func() {
		w.process.killFor(fmt.Errorf("no answer for %.0f s", d.Seconds()))
	})
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
