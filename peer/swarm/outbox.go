package swarm

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// token wakes a goroutine that receives from it. The channel holds at most one value.
type token chan struct{}

func newToken() token { return make(token, 1) }

func (t token) put() {
	select {
	case t <- struct{}{}:
	default:
	}
}

// outbox queues messages for a peer, in order. Safe for concurrent use. It takes no more memory
// than the messages: a node may have many sessions.
type outbox struct {
	more token // there are some

	mu    sync.Mutex
	queue []proto.Message
}

// add appends a message. It reports false if [sendQueue] are queued.
func (o *outbox) add(m proto.Message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) >= sendQueue {
		return false
	}
	o.queue = append(o.queue, m)
	o.more.put()
	return true
}

// take returns the queued messages, and appends later ones to empty.
func (o *outbox) take(empty []proto.Message) []proto.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.queue
	o.queue = empty[:0]
	return all
}
