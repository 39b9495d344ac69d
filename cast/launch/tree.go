package launch

import (
	"context"
	"slices"
	"sync"
)

// tree assigns hosts to the agents that log in to them. The first host of a cluster is the caster's. Each started agent takes the next
// hosts of its cluster until it has width children.
type tree struct {
	width int

	mu       sync.Mutex
	branches map[string]*branch // by cluster
}

// branch is the tree of a cluster.
type branch struct {
	relays  []*relayNode
	first   bool // the caster logs in to a host
	waiting []chan *relayNode
}

// relayNode is a started agent.
type relayNode struct {
	*remote
	children int
}

// enter waits for an agent with room, and returns nil for the caster. leave must be called when the login or the program has ended.
func (t *tree) enter(ctx context.Context, cluster string) (via *relayNode, leave func(), err error) {
	turn := make(chan *relayNode, 1)
	t.mu.Lock()
	b := t.branches[cluster]
	if b == nil {
		b = new(branch)
		t.branches[cluster] = b
	}
	b.waiting = append(b.waiting, turn)
	t.grant(b)
	t.mu.Unlock()
	select {
	case via = <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(b.waiting, turn); i >= 0 {
			b.waiting = slices.Delete(b.waiting, i, i+1)
			return nil, nil, err
		}
		via = <-turn
		t.leave(b, via)
		return nil, nil, err
	}
	return via, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.leave(b, via)
	}, nil
}

// leave and grant are called with the lock held.
func (t *tree) leave(b *branch, via *relayNode) {
	if via != nil {
		via.children--
	} else {
		b.first = false
	}
	t.grant(b)
}

func (t *tree) grant(b *branch) {
	for len(b.waiting) > 0 {
		var via *relayNode
		if len(b.relays) > 0 {
			i := slices.IndexFunc(b.relays, func(r *relayNode) bool { return r.children < t.width })
			if i < 0 {
				return
			}
			via = b.relays[i]
			via.children++
		} else if b.first {
			return
		}
		b.first = b.first || via == nil
		b.waiting[0] <- via
		b.waiting = b.waiting[1:]
	}
}

// add adds a started agent until it exits.
func (t *tree) add(cluster string, p *Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, r := t.branches[cluster], &relayNode{remote: p.remote}
	b.relays = append(b.relays, r)
	b.first = false
	t.grant(b)
	context.AfterFunc(p.alive, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		b.relays = slices.DeleteFunc(b.relays, func(other *relayNode) bool { return other == r })
		t.grant(b)
	})
}
