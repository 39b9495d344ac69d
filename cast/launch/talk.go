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

// chunk is the size of a write of the archive, in bytes.
const chunk = 64 << 10

// talk is the conversation of a login with a host, up to the hello.
type talk struct {
	*login
	process *Process
	timeout *time.Timer   // of the next message; nil before the first is awaited
	answers chan *message // closed at the end of the output

	archive  *archive // nil unless the host needs it
	depot    *depot
	claim    *claim // on the depot, nil after its end
	got      bool   // the host has the archive
	answered bool   // the host has sent a message
	stall    *time.Timer
}

// run handles messages until the hello. It returns io.EOF if the process ends before.
func (t *talk) run() error {
	t.expect(t.times.login)
	defer func() { t.timeout.Stop() }()
	over := make(chan struct{})
	defer close(over)
	t.answers = make(chan *message)
	go t.read(over)
	for {
		m, ok := <-t.answers
		if !ok {
			return io.EOF
		}
		t.leave()
		t.answered = true
		var err error
		switch {
		case m.Hello != nil:
			t.process.dir = clean([]byte(m.Hello.Dir))
			t.serve(m.Hello)
			t.end(true)
			return nil
		case m.Need != "":
			err = t.need(m)
		case m.Failed:
			err = t.failed()
		case m.Got:
			if t.claim == nil || t.got {
				return errors.New("the host reports a program that was not sent")
			}
			t.got = true
			if t.claim.from != nil {
				t.end(true) // an upload by the remote shell ends when the host is a server
			}
			t.note("start")
			t.expect(t.times.start)
		}
		if err != nil {
			return err
		}
	}
}

// read reads messages until the hello or the end of the output. An exit is noticed after the output was read, so the output is also
// read while the host waits for its turn.
func (t *talk) read(over <-chan struct{}) {
	defer close(t.answers)
	for {
		record, err := t.process.Next()
		if err != nil {
			return
		}
		m := new(message)
		if json.Unmarshal(record, m) != nil {
			continue
		}
		select {
		case t.answers <- m:
		case <-over:
			return
		}
		if m.Hello != nil {
			return
		}
	}
}

// need handles the request of a program.
func (t *talk) need(m *message) error {
	if t.archive != nil {
		return errors.New("second request of the program")
	}
	platform := parseUname(clean([]byte(m.Need[:min(len(m.Need), maxLine)])))
	program := t.cfg.Programs.of(platform)
	if program == nil {
		return t.cfg.Programs.missing(platform)
	}
	t.note("program")
	t.timeout.Stop() // the host may wait for other hosts
	var err error
	if t.archive, err = program.archive(); err != nil {
		return err
	}
	t.depot = t.depotOf(place{t.cluster, platform})
	t.shell = t.shell || m.By == ""
	return t.upload()
}

// failed has the remote shell upload the archive after a failed download.
func (t *talk) failed() error {
	if t.claim == nil {
		return errors.New("the host reports the failure of a program that was not sent")
	}
	from := t.claim.from
	if from == nil {
		return errors.New("the program was corrupted in transit")
	}
	t.end(false)
	t.cfg.Log.Debug("a download failed", "host", t.host, "from", from.Addrs)
	t.shell = true
	return t.upload()
}

// upload waits for a turn at the depot, and sends the archive or the addresses of a neighbor.
func (t *talk) upload() error {
	var err error
	if t.claim, err = t.depot.wait(t.process.alive, t.shell); err != nil {
		return io.EOF // Wait returns the reason
	}
	t.expect(t.times.upload)
	depot, claim := t.depot, t.claim
	t.stall = time.AfterFunc(t.times.stall, func() { depot.stalled(claim) })
	if from := claim.from; from != nil {
		t.send("get %s %d %s %s", t.archive.sum, len(t.archive.data), from.Path, strings.Join(from.Addrs, " "))
		return nil
	}
	t.send("put %s %d", t.archive.sum, len(t.archive.data))
	for part := range slices.Chunk(t.archive.data, chunk) {
		if _, err := t.process.command.Write(part); err != nil {
			return nil // the next message has the reason
		}
		t.expect(t.times.upload)
		t.stall.Reset(t.times.stall)
	}
	return nil
}

// send sends a line to the script.
func (t *talk) send(format string, args ...any) {
	_, _ = fmt.Fprintf(t.process.command, format+"\n", args...) // the next message has the reason of an error
}

// end ends the claim on the depot.
func (t *talk) end(ok bool) {
	if t.claim == nil {
		return
	}
	t.stall.Stop()
	t.depot.end(t.claim, ok)
	t.claim = nil
}

// abandon ends the claim of a login whose relay was lost. It does not count as a failed download.
func (t *talk) abandon() {
	if t.claim != nil {
		t.stall.Stop()
		t.depot.stalled(t.claim)
		t.claim = nil
	}
}

// serve adds the host to the servers of its depot while its program runs.
func (t *talk) serve(h *Hello) {
	if !h.isServer() || t.cfg.Programs.of(h.Platform) == nil {
		return
	}
	for _, a := range h.Addrs {
		t.process.Offers = append(t.process.Offers, "http://"+a+"/"+h.Path+offerPath)
	}
	s, d := &server{Hello: *h}, t.depotOf(place{t.cluster, h.Platform})
	d.add(s)
	context.AfterFunc(t.process.alive, func() { d.remove(s) })
}

// expect kills the process unless it is called again, or timeout is stopped, within d.
func (t *talk) expect(d time.Duration) {
	if t.timeout != nil {
		t.timeout.Stop()
	}
	t.timeout = time.AfterFunc(d, func() {
		t.process.killFor(fmt.Errorf("no answer for %.0f s", d.Seconds()))
	})
}
