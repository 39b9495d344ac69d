package stream_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mobgrid/mob/cast/stream"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestReaderFails checks that receivers fail with the error of the stream's source.
func TestReaderFails(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	a, b := c.start(c.join("A", nil), io.Discard), c.start(c.join("B", nil), io.Discard)
	torn := errors.New("the tape is torn")
	if _, err := c.run(io.MultiReader(random(3<<20), iotest.ErrReader(torn))); !errors.Is(err, torn) {
		t.Errorf("the sender ends with %v", err)
	}
	for _, out := range []<-chan outcome{a, b} {
		if o := <-out; o.err == nil || !strings.Contains(o.err.Error(), torn.Error()) {
			t.Errorf("a receiver ends with %v", o.err)
		}
	}
}

// TestDeadReceiver checks that a dead receiver delays no other receiver once it is dropped.
func TestDeadReceiver(t *testing.T) {
	const size = 24 << 20
	t.Parallel()
	c := newCast(t, nil)
	c.sender.SetMemory(4 << 20) // so that the dead one holds the stream
	c.sender.SetSpool(0)
	dies, s := c.join("A", nil), newSum()
	_ = c.start(dies, io.Discard)
	out := c.start(c.join("A", nil), s)
	sent := c.background(random(size))
	peertest.Eventually(t, "bytes", func() bool { return dies.Stats().Bytes > 0 })
	dies.Close()
	check(t, dies.node.Close())
	c.drop(dies)
	for _, out := range []<-chan outcome{sent, out} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	s.want(t, size)
}

// TestLateReceiver checks that a receiver that starts late gets the records that were not released, and is rejected if
// some are missing.
func TestLateReceiver(t *testing.T) {
	const size = 8 << 20
	t.Parallel()
	c := newCast(t, nil)
	c.keep = true
	early := newSum()
	first := c.join("A", nil)
	out := c.start(first, early)
	r, w := pipe(t)
	sent := c.background(r)
	_, err := io.Copy(w, random(size))
	check(t, err)
	peertest.Eventually(t, "the early receiver has it", func() bool { return first.Stats().Bytes == size })
	s := newSum()
	late := c.start(c.join("A", nil), s)
	c.mu.Lock()
	c.keep = false
	c.mu.Unlock()
	peertest.Eventually(t, "release", func() bool { return c.sender.Stats().Memory < size/2 })
	if o := <-c.start(c.join("A", nil), io.Discard); o.err == nil || !strings.Contains(o.err.Error(), "released at its source") {
		t.Errorf("a receiver that joins after the release: %v", o.err)
	}
	c.drop(c.receivers[2])
	check(t, w.Close())
	for _, out := range []<-chan outcome{sent, out, late} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	early.want(t, size)
	s.want(t, size)
}

// failing is a consumer that fails after some bytes.
type failing struct{ left int }

var errConsumer = errors.New("the consumer has enough")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errConsumer
	}
	return len(p), nil
}

// TestConsumerFails checks that a receiver whose consumer fails returns that error, and still fetches and serves.
func TestConsumerFails(t *testing.T) {
	const size = 8 << 20
	t.Parallel()
	c := newCast(t, nil)
	s, fails := newSum(), c.join("A", nil)
	failed, out := c.start(fails, &failing{1 << 20}), c.start(c.join("A", nil), s)
	sent := c.background(random(size))
	if o := <-failed; o.err != errConsumer || o.n > 1<<20 {
		t.Errorf("the receiver got %d: %v", o.n, o.err)
	}
	for _, out := range []<-chan outcome{sent, out} {
		if o := <-out; o.n != size || o.err != nil {
			t.Errorf("%d of %d: %v", o.n, size, o.err)
		}
	}
	s.want(t, size)
	if got, want := fails.Stats().Held, c.count()-1; got != want { // without the last one, which ends the stream
		t.Errorf("the receiver without a consumer holds %d of %d records", got, want)
	}
}

// TestSpoolFails checks that a spool that cannot be written fails the receiver, and the stream at the
// sender.
func TestSpoolFails(t *testing.T) {
	const size, memory = 32 << 20, 8 << 20
	missing := filepath.Join(t.TempDir(), "missing")
	for name, at := range map[string]string{"receiver": "receiver", "sender": "sender"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, func(cfg *stream.SenderConfig) {
				if at == "sender" {
					cfg.Dir = missing
				}
			})
			c.sender.SetMemory(memory)
			r := c.join("A", func(cfg *stream.ReceiverConfig) {
				if at == "receiver" {
					cfg.Dir = missing
				} else {
					cfg.Spool = 0
				}
			})
			r.SetMemory(memory)
			other := c.start(c.join("A", nil), io.Discard)
			g := newGate()
			out := c.start(r, g)
			sent := c.background(random(size))
			failed := sent
			if at == "receiver" {
				failed = out
				peertest.Eventually(t, "a false write", func() bool { return r.Failed() != nil })
				close(g.open)
			}
			if o := <-failed; o.err == nil || !strings.Contains(o.err.Error(), "spool: ") {
				t.Fatalf("a spool that is not there: %v", o.err)
			}
			if at == "sender" {
				if o := <-other; o.err == nil || !strings.Contains(o.err.Error(), "cut off at its source: spool: ") {
					t.Errorf("the other receiver: %v", o.err)
				}
				close(g.open)
				<-out
				return
			}
			c.drop(r)
			if o := <-sent; o.err != nil {
				t.Error(o.err)
			}
		})
	}
}

// TestForgedRecord checks that a receiver fails at a record that is not the next.
func TestForgedRecord(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	r := c.join("A", nil)
	out := c.start(r, io.Discard)
	if err := r.Add([]byte("not a record")); err == nil {
		t.Error("no error")
	}
	if o := <-out; o.err == nil || !strings.Contains(o.err.Error(), "forged record") {
		t.Errorf("Run returns %v", o.err)
	}
	if err := r.Add(nil); err == nil {
		t.Error("no error after the first")
	}
}

// TestCancel checks that both sides end with their contexts.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := newCast(t, nil)
	ctx, cancel := context.WithCancel(c.ctx)
	c.ctx = ctx
	out := c.start(c.join("A", nil), io.Discard)
	r, w := pipe(t)
	sent := c.background(r)
	_, err := io.WriteString(w, "some")
	check(t, err)
	c.await()
	cancel()
	for _, out := range []<-chan outcome{sent, out} {
		if o := <-out; !errors.Is(o.err, context.Canceled) {
			t.Error(o.err)
		}
	}
}
