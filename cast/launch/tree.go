package launch

import (
	"context"
	"slices"
	"sync"
)

// tree assigns hosts to the nodes that log in to them. The caster takes the first hosts of each cluster, and each started agent the
// next hosts of its cluster, until a node has width children in the cluster.
type tree struct {
	width int

	mu       sync.Mutex
	branches map[string]*branch // by cluster
}

// branch is the tree of a cluster.
type branch struct {
	relays  []*relayNode // the caster and started agents
	waiting []chan *relayNode
}

// relayNode is a started agent, or the caster.
type relayNode struct {
	*remote      // nil for the caster
	children int // logins and running agents
}

// enter waits for a node with room. leave must be called when the login or the program has ended.
func (t *tree) enter(ctx context.Context, cluster string) (via *relayNode, leave func(), err error) {
	turn := make(chan *relayNode, 1)
	t.mu.Lock()
	b := t.branches[cluster]
	if b == nil {
		b = &branch{relays: []*relayNode{{}}}
		t.branches[cluster] = b
	}
	b.waiting = append(b.waiting, turn)
	t.grant(b)
	t.mu.Unlock()
	select {
	case via = <-turn:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(b.waiting, turn); i >= 0 {
			b.waiting = slices.Delete(b.waiting, i, i+1)
		} else {
			t.leave(b, <-turn)
		}
		return nil, nil, context.Cause(ctx)
	}
	return via, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.leave(b, via)
	}, nil
}

// leave and grant are called with the lock held.
func (t *tree) leave(b *branch, via *relayNode) {
	via.children--
	t.grant(b)
}

func (t *tree) grant(b *branch) {
	for len(b.waiting) > 0 {
		i := slices.IndexFunc(b.relays, func(r *relayNode) bool { return r.children < t.width })
		if i < 0 {
			return
		}
		b.relays[i].children++
		b.waiting[0] <- b.relays[i]
		b.waiting = b.waiting[1:]
	}
}

// add adds a started agent until it exits.
func (t *tree) add(cluster string, p *Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, r := t.branches[cluster], &relayNode{remote: p.remote}
	b.relays = append(b.relays, r)
	t.grant(b)
	context.AfterFunc(p.alive, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		b.relays = slices.DeleteFunc(b.relays, func(other *relayNode) bool { return other == r })
		t.grant(b)
	})
}
