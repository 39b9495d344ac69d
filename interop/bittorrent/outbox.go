package bittorrent

import (
	"encoding/binary"
	"sync"

	pp "github.com/anacrolix/torrent/peer_protocol"
)

// outbox gathers messages for one connection, which are written with one call. Safe
// for concurrent use; nothing in it blocks.
type outbox struct {
	// ready holds a token when there is something to write.
	ready chan struct{}

	mu  sync.Mutex
	buf []byte
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

// put queues a message of 32-bit fields and some bytes. It is false when too much
// waits already.
func (o *outbox) put(t pp.MessageType, payload []byte, fields ...uint32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 1 + 4*len(fields) + len(payload)
	if len(o.buf)+n > maxUnsent {
		return false
	}
	o.buf = binary.BigEndian.AppendUint32(o.buf, uint32(n))
	o.buf = append(o.buf, byte(t))
	for _, f := range fields {
		o.buf = binary.BigEndian.AppendUint32(o.buf, f)
	}
	o.buf = append(o.buf, payload...)
	o.wake()
	return true
}

// keepAlive queues a message that says nothing.
func (o *outbox) keepAlive() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf, 0, 0, 0, 0)
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// take returns what waits, and goes on in spare.
func (o *outbox) take(spare []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.buf
	o.buf = spare[:0]
	return b
}
