package limit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// cluster is members in virtual time that share a limit. Messages take a few milliseconds.
type cluster struct {
	t     *testing.T
	began time.Time

	mu     sync.Mutex
	all    []*member
	passed []passage
}

type member struct {
	*Share
	id    string
	inbox chan message
	stop  func()
}

// join starts a member that passes blocks as fast as it may, or at a rate.
func (c *cluster) join(limit, use Rate) *member {
	c.mu.Lock()
	m := &member{Share: NewShare(), id: fmt.Sprint(time.Since(c.began)), inbox: make(chan message, 1000)}
	go func() {
		for msg := range m.inbox {
			time.Sleep(rand.N(4 * time.Millisecond))
			m.Receive(msg.from, msg.d)
		}
	}()
	m.SetLimit(limit)
	for _, o := range c.all {
		c.send(m, o, m.Demand())
		c.send(o, m, o.Demand())
	}
	c.all = append(c.all, m)
	c.mu.Unlock()
	time.Sleep(20 * time.Millisecond) // sessions are there before a member fetches
	ctx, cancel := context.WithCancel(c.t.Context())
	m.stop = func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = slices.DeleteFunc(c.all, func(o *member) bool { return o == m })
		for _, o := range c.all {
			c.send(m, o, Demand{})
		}
		close(m.inbox)
	}
	go m.Run(ctx, func(d Demand) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, o := range c.all {
			if o != m {
				c.send(m, o, d)
			}
		}
	})
	go func() {
		const block = 16 << 10
		for m.Bucket.Wait(ctx, block) == nil && ctx.Err() == nil {
			c.mu.Lock()
			c.passed = append(c.passed, passage{time.Since(c.began), block})
			c.mu.Unlock()
			if use > 0 {
				time.Sleep(time.Duration(float64(block) / float64(use) * float64(time.Second)))
			}
		}
	}()
	return m
}

// send has a member hear another after a few milliseconds, in order.
func (c *cluster) send(from, to *member, d Demand) { to.inbox <- message{from.id, d} }

type message struct {
	from string
	d    Demand
}

// sum returns the bytes that passed from a time on, for so long.
func (c *cluster) sum(from, length time.Duration) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.passed {
		if p.at >= from && p.at < from+length {
			n += p.n
		}
	}
	return n
}

// most returns the most bytes that passed within two seconds.
func (c *cluster) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return mostIn(2*time.Second, c.passed)
}

// TestShare checks members that join, leave, are slow and are fast: in any two seconds they take no more than
// the limit, and no less while one of them could.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 3e6
		c := &cluster{t: t, began: time.Now()}
		at := func(want Rate, what string) {
			t.Helper()
			time.Sleep(time.Second)
			from := time.Since(c.began)
			time.Sleep(4 * time.Second)
			if got := float64(c.sum(from, 4*time.Second)) / 4 / float64(want); got < 0.96 || got > 1.03 {
				t.Errorf("%s: %.3f of %v", what, got, want)
			}
		}
		a := c.join(limit, 0)
		at(limit, "one")
		b, d := c.join(limit, 0), c.join(limit, 0)
		at(limit, "three")
		slow := c.join(limit, 100e3)
		at(limit, "three, and one that is slow")
		for _, m := range c.all {
			if r := m.Status().Rate; m == slow && r > 200e3 || m != slow && (r < 900e3 || r > 1e6) {
				t.Errorf("%s has %v", m.id, r)
			}
		}
		b.stop()
		at(limit, "two, and one that is slow")
		a.stop()
		d.stop()
		time.Sleep(2 * time.Second)
		if r := slow.Status().Rate; r != limit {
			t.Errorf("the last has %v", r)
		}
		low := c.join(limit/2, 0)
		at(limit/2, "one with a lower limit")
		if st := slow.Status(); st.Limit != limit/2 || st.LowestBy != low.id || st.Members != 2 {
			t.Errorf("%+v", st)
		}
		low.stop()
		if most := float64(c.most()) / 2 / limit; most > 1.05 {
			t.Errorf("%.3f of the limit in two seconds", most)
		}
		slow.SetLimit(0)
		time.Sleep(time.Second)
		if slow.Status() != nil || slow.Bucket.Limited() {
			t.Error("the limit is still there")
		}
		slow.stop()
		time.Sleep(time.Second)
	})
}

// TestShareManyJoin checks sixteen members that join one after the other.
func TestShareManyJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 20e6
		c := &cluster{t: t, began: time.Now()}
		for range 16 {
			c.join(limit, 0)
			time.Sleep(rand.N(300 * time.Millisecond))
		}
		time.Sleep(10 * time.Second)
		if most := float64(c.most()) / 2 / limit; most > 1.05 {
			t.Errorf("%.3f of the limit in two seconds", most)
		}
		if all := float64(c.sum(0, 10*time.Second)) / 10 / limit; all < 0.97 {
			t.Errorf("%.3f of the limit", all)
		}
		for _, m := range slices.Clone(c.all) {
			m.stop()
		}
		time.Sleep(time.Second) // until they see that
	})
}
