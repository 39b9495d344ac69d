package swarm

import (
	"testing"
	"testing/synctest"
	"time"
)

// Flows grow while that carries more, and the path has no queue.
func TestFlowGrowth(t *testing.T) {
	const flow = 400_000 // bytes per second of each
	for _, c := range []struct {
		name    string
		path    float64 // bytes per second that it carries
		queue   bool    // whether it has one when it is full
		others  float64 // share that it is full with, after a second half
		offered float64 // bytes per second that there are to send
		want    int     // flows, most of the time in the end
	}{
		{"a wide path", 100e6, true, 0, 100e6, maxLossyFlows},
		{"four are enough", 100e6, true, 0, 2 * flow, maxFlows},
		{"a path that four fill", maxFlows * flow, true, 0, 100e6, maxFlows},
		{"a limit without a queue", maxFlows * flow, false, 0, 100e6, maxFlows},
		{"a path that others fill later", 100e6, true, 1, 100e6, maxFlows},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g flowGrowth
			const step = lossInterval
			now, n, most, as := time.Unix(1, 0), 1, 0, 0
			for i := range 120 {
				full := c.others > 0 && i >= 60
				able := float64(max(n, 1)) * flow
				rate := min(able, c.offered, c.path)
				for range n {
					s := flowSample{
						acked:  uint64(rate * step.Seconds() / float64(n)),
						busy:   time.Duration(float64(step) * min(c.offered/able, 1)),
						queued: c.queue && (able > c.path || full),
						trip:   60 * time.Millisecond,
					}
					n = g.add(now, s)
				}
				most = max(most, n)
				if i >= 80 && n == c.want {
					as++
				}
				now = now.Add(step)
			}
			if as < 30 || most > maxLossyFlows {
				t.Errorf("%d flows in %d of 40 steps in the end, %d at most, %d in the last", c.want, as, most, n)
			}
			if c.others > 0 && most != maxLossyFlows {
				t.Errorf("%d flows before others came, want %d", most, maxLossyFlows)
			}
		})
	}
}

// Servers beyond those that may send rest until there may be more, or the session ends. Each is started once.
func TestFlowsRest(t *testing.T) { synctest.Test(t, testFlowsRest) }

func testFlowsRest(t *testing.T) {
	f := newFlows()
	f.atLeast(3)
	if first, end := f.start(); first != 1 || end != 3 {
		t.Fatalf("servers %d to %d were started beside the first, want 1 and 2", first, end-1)
	}
	if first, end := f.start(); first < end {
		t.Errorf("servers %d to %d were started again", first, end-1)
	}
	sends := make(chan bool)
	go func() {
		for f.await(3) {
			sends <- true
		}
		close(sends)
	}()
	synctest.Wait()
	select {
	case <-sends:
		t.Error("the fourth server sends")
	default:
	}
	f.atLeast(4)
	if !<-sends {
		t.Error("the fourth server does not send")
	}
	f.close()
	for range sends {
	}
}
