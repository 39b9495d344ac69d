package tracker

import (
	"context"
	"sync"
)

// tasks are the streams or requests in progress, which Close ends and waits for.
type tasks struct {
	closing context.Context // canceled by end
	cancel  context.CancelFunc

	mu      sync.Mutex // held so that none is added after end
	running sync.WaitGroup
}

func (t *tasks) init() { t.closing, t.cancel = context.WithCancel(context.Background()) }

// add adds n tasks, unless they have ended. Each ends with a call of running.Done.
func (t *tasks) add(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing.Err() != nil {
		return false
	}
	t.running.Add(n)
	return true
}

// end cancels closing, and reports whether it is the first call.
func (t *tasks) end() (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = t.closing.Err() == nil
	t.cancel()
	return first
}
