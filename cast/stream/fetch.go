package stream

import (
	"errors"

	"github.com/mobgrid/mob/peer"
)

// maxMissing bounds the pieces in flight, which have memory reserved.
const maxMissing = 512

// fetch fetches parts until the receiver is closed, or fails.
func (r *Receiver) fetch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		for _, e := range r.epochs {
			r.leave(e)
		}
	}()
	for r.ctx.Err() == nil {
		p := r.parts.at(r.next)
		if p == nil || r.err != nil || r.missing >= maxMissing {
			r.await(r.ctx)
			continue
		}
		room, waiting := r.makeRoom()
		r.waiting = waiting
		if !room {
			r.await(r.ctx)
			continue
		}
		r.start(p)
	}
}

// start fetches p, the next part, whose block is reserved, and the parts after it in the same epoch, as far as memory
// allows. The caller holds the lock, which is released during calls of the swarm.
func (r *Receiver) start(p *part) {
	if p.rest != nil {
		p.piece = newPiece(r.space, append(r.space.take()[:0], p.rest...))
		r.next++
		r.note(p)
		return
	}
	e, err := r.enter(p.number)
	if err == nil && opens(p.number, r.epoch) {
		_, err = r.enter(p.number + r.epoch)
	}
	if err != nil {
		r.space.give(nil)
		r.fail(err)
		return
	}
	first := int(p.number % r.epoch)
	var known []peer.Piece
	for {
		p.epoch = e
		p.piece.stored = r.storedOf(p)
		e.put(first+len(known), p.piece, false)
		known = append(known, peer.Piece{Size: p.size, Sum: p.sum})
		r.missing++
		r.next++
		p = r.parts.at(r.next)
		if p == nil || p.rest != nil || p.number/r.epoch != e.number || opens(p.number, r.epoch) || r.missing >= maxMissing {
			break
		}
		if !r.space.reserve(false) {
			break
		}
	}
	r.mu.Unlock()
	defer r.mu.Lock()
	e.swarm.Grow(first, known)
}

// enter returns the epoch of a piece, and joins its swarm if necessary. The caller holds the lock, which is released during
// the join.
func (r *Receiver) enter(piece uint64) (*epoch, error) {
	number := piece / r.epoch
	if e := r.epochs[number]; e != nil {
		return e, nil
	}
	e := newEpoch(number)
	e.lost = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fail(errSpoolDamaged)
	}
	r.mu.Unlock()
	err := e.join(r.cfg.Node, r.cfg.Key, r.epoch, r.cfg.Peers, false)
	r.mu.Lock()
	if err == nil {
		r.epochs[number] = e
	}
	return e, err
}

// storedOf returns the function to call when a piece is verified.
func (r *Receiver) storedOf(p *part) func() {
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.missing--
		r.note(p)
	}
}

// note records that a part is complete. The caller holds the lock.
func (r *Receiver) note(p *part) {
	p.complete = true
	for p := r.parts.at(r.held); p != nil && p.complete; p = r.parts.at(r.held) {
		r.held++
	}
	r.change()
}

// makeRoom reserves memory for a part, or returns what that waits for. It frees the oldest parts that the consumer has, and then
// moves the newest parts to the spool. The caller holds the lock, which is released during that.
func (r *Receiver) makeRoom() (room bool, waiting string) {
	for r.ctx.Err() == nil && r.err == nil {
		if r.space.reserve(false) {
			return true, ""
		}
		if r.kept < r.given {
			r.dropOldest()
			continue
		}
		far := r.newestWaiting()
		if far == nil {
			return false, "the consumer: the memory is full"
		}
		far.busy = true
		r.mu.Unlock()
		err := far.toSpool()
		r.mu.Lock()
		far.busy = false
		r.change()
		switch {
		case errors.Is(err, errSpoolFull):
			return false, "the consumer: memory and spool are full"
		case err != nil:
			r.fail(err)
			return false, ""
		}
	}
	return false, ""
}

// maxDropped bounds the parts that dropOldest frees, since each call costs messages.
const maxDropped = 64

// dropOldest frees the oldest parts that the consumer has and that are kept for neighbors. The caller holds the lock, which is
// released during calls of the swarm.
func (r *Receiver) dropOldest() {
	var e *epoch
	first, count := 0, 0
	for r.kept < r.given && count < maxDropped {
		p := r.parts.at(r.kept)
		if p.epoch != nil {
			if e == nil {
				e, first = p.epoch, int(p.number%r.epoch)
			} else if p.epoch != e {
				break
			}
			count++
		}
		r.free(p)
		r.kept++
	}
	if count > 0 {
		r.mu.Unlock()
		defer r.mu.Lock()
		e.swarm.Withhold(first, count)
	}
}

// newestWaiting returns the newest complete part in memory that the consumer does not have.
func (r *Receiver) newestWaiting() *part {
	for n := r.next; n > r.given; n-- {
		if p := r.parts.at(n - 1); p.complete && !p.busy && p.inMemory() {
			return p
		}
	}
	return nil
}
