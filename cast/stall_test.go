package cast

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/cast/agent"
)

// stallCast returns a cast whose hosts fetch from a ready source, without processes.
func stallCast(cfg Config, length, read int64) *caster {
	c := &caster{
		cfg: cfg, began: time.Now(), moved: time.Now(), looked: time.Now(), silence: silence,
		settled: make(chan struct{}, len(cfg.Hosts)), source: &source{ready: make(chan struct{})},
	}
	c.cfg.Event = func(Event) {}
	c.stragglers = stragglers{cfg: &c.cfg, began: c.began}
	c.source.length.Store(length)
	c.source.read.Store(read)
	close(c.source.ready)
	for i := range cfg.Hosts {
		h, _ := newHost(c, i)
		h.enter(Fetching)
		c.hosts = append(c.hosts, h)
	}
	return c
}

// report sends progress reports of a host once per second for a time or until ctx ends, with the bytes that a function
// returns.
func (c *caster) report(ctx context.Context, host int, d time.Duration, bytes func(second int) int64) {
	for second := range int(d / time.Second) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return
		}
		_ = c.hosts[host].take(&agent.Report{Progress: &Progress{Bytes: bytes(second)}})
	}
}

// TestStalledHost checks that a host whose reports show no progress fails five minutes after the last progress of all
// hosts.
func TestStalledHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := stallCast(Config{Hosts: []Host{{"slow", "a"}, {"stuck", "a"}}}, 1000, 1000)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		go c.report(ctx, 1, 2*time.Hour, func(second int) int64 { return int64(second % 2) })
		go func() {
			c.report(ctx, 0, time.Hour, func(second int) int64 { return int64(second / 240) })
			c.hosts[0].settle(Done, "", 0)
		}()
		if err := c.wait(ctx, nil); err != nil {
			t.Fatal(err)
		}
		r := c.hosts[1].now(time.Now())
		if r.Phase != Failed || r.Error != "no progress for 300 s" {
			t.Errorf("%s: %q", r.Phase, r.Error)
		}
		if r.Took < time.Hour || r.Took > time.Hour+stall {
			t.Errorf("it failed after %v", r.Took)
		}
	})
}

// TestIdleHost checks that hosts do not fail while they wait for their source, a command, the hash of existing files, or their disk,
// nor in a gather while this machine hashes or flushes a copy.
func TestIdleHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg                Config
		length, read, have int64
		copied             int64 // the size of the copy in a gather
	}{
		"idle stream": {Config{}, -1, 500, 500, 0},
		"command":     {Config{Exec: "x"}, 1000, 1000, 500, 0},
		"force":       {Config{Force: true}, 3600 * diskRate, 3600 * diskRate, 500, 0},
		"flush":       {Config{}, 3600 * diskRate, 3600 * diskRate, 3600 * diskRate, 0},
		"gather":      {Config{Output: "%h"}, 0, 0, 0, 3600 * diskRate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c.cfg.Hosts = []Host{{"n", "a"}}
				cast := stallCast(c.cfg, c.length, c.read)
				if c.copied > 0 {
					h := cast.hosts[0]
					h.output, h.answered, h.is.Length = "n", true, c.copied
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				go cast.report(ctx, 0, time.Hour, func(int) int64 { return c.have })
				if err := cast.wait(ctx, nil); err == nil {
					t.Errorf("the host failed: %s", cast.hosts[0].now(time.Now()).Error)
				}
			})
		})
	}
}

// TestStalledSource checks that hosts do not fail while this machine waits for the disk of the content: the launcher has them
// start once they have the program, which may be long before they get their Start.
func TestStalledSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := stallCast(Config{Hosts: []Host{{"n", "a"}}}, 1000, 500)
		c.source.ready = make(chan struct{})
		h := c.hosts[0]
		h.enter(Start)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go c.report(ctx, 0, time.Hour, func(int) int64 { return 0 })
		if err := c.wait(ctx, nil); err == nil {
			t.Errorf("the host failed: %s", h.now(time.Now()).Error)
		}
	})
}
