package collective

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// entry is a member in a roster.
type entry struct {
	_       struct{} `cbor:",toarray"`
	ID      proto.PeerID
	Cluster string
	Call    uint64 // number of its call of Join
}

// roster is the list of members that the one with the lowest peer id sends to all of them. Ranks are positions in it.
type roster struct {
	_       struct{} `cbor:",toarray"`
	Members []entry
}

// newRoster sorts members by cluster, then by peer id.
func newRoster(members []entry) *roster {
	slices.SortFunc(members, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), strings.Compare(string(a.ID), string(b.ID)))
	})
	return &roster{Members: members}
}

// rank returns the rank of a member, or -1.
func (r *roster) rank(id libpeer.ID) int {
	return slices.IndexFunc(r.Members, func(e entry) bool { return string(e.ID) == string(id) })
}

// clusters returns the ranks of the members of each cluster.
func (r *roster) clusters() (all [][]int) {
	for rank, e := range r.Members {
		if rank == 0 || e.Cluster != r.Members[rank-1].Cluster {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], rank)
	}
	return all
}

// reached reports whether a member has a session with another one in each cluster. A cast does not enter a cluster without one.
func (r *roster) reached(self proto.PeerID, members []group.Member) bool {
	missing := map[string]bool{}
	for _, e := range r.Members {
		if e.ID != self {
			missing[e.Cluster] = true
		}
	}
	for _, m := range members {
		if m.RTT > 0 && r.rank(m.ID) >= 0 {
			delete(missing, m.Cluster)
		}
	}
	return len(missing) == 0
}

const (
	// joinEvery is the time between looks for the member with the lowest peer id.
	joinEvery = 50 * time.Millisecond
	// joinTimeout bounds a message to it. rosterTimeout bounds the time in which all members accept a roster.
	joinTimeout   = 3 * time.Second
	rosterTimeout = 5 * time.Second
)

// joining is the state of a call of Join.
type joining struct {
	g    *group.Group
	self entry
	size int

	asked       libpeer.ID               // was sent a join
	alone       time.Time                // since then this member waits for joins
	unreachable map[libpeer.ID]time.Time // was not reached then
	joined      map[libpeer.ID]uint64    // members that sent a join to this one, and their calls

	// The roster that this member has accepted.
	comm        *Comm
	coordinator libpeer.ID
	since       time.Time
	unanswered  bool                // by this member
	accepted    map[libpeer.ID]bool // at the coordinator
}

// Join waits until size members have joined and returns when all of them have the same roster. Whoever
// knows name can join: outside a network, make it as hard to guess as a password.
func Join(ctx context.Context, n *peer.Node, name string, size int) (*Comm, error) {
	if size < 1 || size > MaxMembers {
		return nil, fmt.Errorf("group of %d members, want 1 to %d", size, MaxMembers)
	}
	g, err := group.Join(ctx, n, group.Config{Key: sha256.Sum256([]byte("mob-collective:" + name))})
	if err != nil {
		return nil, err
	}
	j := &joining{
		g: g, size: size, self: entry{ID: proto.PeerID(n.Host().ID()), Cluster: n.Cluster(), Call: rand.Uint64()},
		alone: time.Now(), unreachable: map[libpeer.ID]time.Time{}, joined: map[libpeer.ID]uint64{},
	}
	c, err := j.run(ctx)
	if err != nil {
		g.Close()
		return nil, err
	}
	c.node = n
	go c.receive()
	go c.probe()
	return c, nil
}

// run returns once all members have the roster.
func (j *joining) run(ctx context.Context) (*Comm, error) {
	messages := make(chan group.Message)
	stop, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	defer func() { cancel(); <-done }()
	var early []group.Message // received and not handled when run returned
	go func() {
		defer close(done)
		for {
			m, err := j.g.Receive(stop)
			if err != nil {
				return
			}
			select {
			case messages <- m:
			case <-stop.Done():
				early = append(early, m)
				return
			}
		}
	}()
	failed := make(chan libpeer.ID)
	tick := time.NewTicker(joinEvery)
	defer tick.Stop()
	for {
		if j.comm == nil {
			j.ask(stop, failed)
			j.coordinate(ctx)
		}
		if j.comm != nil && j.unanswered && j.comm.roster.reached(j.self.ID, j.g.Members()) {
			j.unanswered = false
			j.post(ctx, j.coordinator, header{Kind: kindAccept, Run: j.comm.run})
		}
		var started bool
		var err error
		select {
		case m := <-messages:
			started, err = j.handle(ctx, m)
		case id := <-failed:
			j.unreachable[id] = time.Now()
			j.asked = ""
		case <-tick.C:
			if j.comm != nil && time.Since(j.since) > rosterTimeout {
				j.reset()
			}
		case <-ctx.Done():
			err = fmt.Errorf("join: %d of %d members have joined: %w", len(j.joined)+1, j.size, context.Cause(ctx))
		}
		if err != nil {
			return nil, err
		}
		if started || j.comm != nil && j.size == 1 {
			cancel()
			<-done
			for _, m := range early {
				j.comm.handle(m)
			}
			return j.comm, nil
		}
	}
}

// reset gives a roster up.
func (j *joining) reset() { j.comm, j.accepted, j.asked = nil, nil, "" }

// ask sends a join to the member with the lowest peer id that can be reached. If this is the one, it waits for the others'
// joins first: without them they may have a roster.
func (j *joining) ask(ctx context.Context, failed chan<- libpeer.ID) {
	var lowest libpeer.ID
	for _, m := range j.g.Members() {
		if at, no := j.unreachable[m.ID]; (lowest == "" || m.ID < lowest) && (!no || time.Since(at) > joinTimeout) {
			lowest = m.ID
		}
	}
	if len(j.joined) > 0 {
		j.alone = time.Now()
	}
	if lowest == "" || lowest == j.asked || lowest > libpeer.ID(j.self.ID) && time.Since(j.alone) < time.Second {
		return
	}
	j.asked = lowest
	h := header{Kind: kindJoin, Run: j.self.Call}
	data := binary.BigEndian.AppendUint32(nil, uint32(j.size))
	h.Total = uint32(len(data))
	go func() {
		timed, cancel := context.WithTimeout(ctx, joinTimeout)
		defer cancel()
		if err := j.g.Send(timed, lowest, h.append(data)); err != nil {
			select {
			case failed <- lowest:
			case <-ctx.Done():
			}
		}
	}()
}

// coordinate sends a roster once enough members have joined.
func (j *joining) coordinate(ctx context.Context) {
	if len(j.joined)+1 < j.size {
		return
	}
	all := []entry{j.self}
	for _, m := range j.g.Members() {
		if call, ok := j.joined[m.ID]; ok && len(all) < j.size {
			all = append(all, entry{ID: proto.PeerID(m.ID), Cluster: m.Cluster, Call: call})
		}
	}
	if len(all) < j.size {
		return
	}
	r := newRoster(all)
	b, err := proto.EncodeCBOR(r)
	if err != nil {
		return
	}
	h := header{Kind: kindRoster, Run: rand.Uint64(), Total: uint32(len(b))}
	j.accept(r, h.Run, libpeer.ID(j.self.ID))
	j.unanswered = false
	j.accepted = map[libpeer.ID]bool{}
	_ = j.g.Cast(ctx, h.append(b))
}

func (j *joining) accept(r *roster, run uint64, coordinator libpeer.ID) {
	j.comm = newComm(j.g, r, run, r.rank(libpeer.ID(j.self.ID)))
	j.coordinator, j.since, j.accepted = coordinator, time.Now(), nil
}

// handle handles a message, and reports whether all members have the roster.
func (j *joining) handle(ctx context.Context, m group.Message) (started bool, _ error) {
	if m.Left {
		j.left(m.From)
		return false, nil
	}
	f, err := parse(m.Bytes)
	if err != nil {
		return false, nil //nolint:nilerr // a message of another program
	}
	switch f.Kind {
	case kindJoin:
		if len(f.data) != 4 {
			return false, nil
		}
		if size := binary.BigEndian.Uint32(f.data); int(size) != j.size {
			err := fmt.Errorf("the group has %d members, not %d", j.size, size)
			j.joined[m.From] = f.Run
			for id, call := range j.joined { // some of them are wrong, so all fail
				reject(ctx, j.g, id, call, err)
			}
			return false, fmt.Errorf("join: %w", err)
		}
		if j.comm != nil && j.comm.roster.rank(m.From) < 0 {
			reject(ctx, j.g, m.From, f.Run, errFull)
			return false, nil
		}
		j.joined[m.From] = f.Run
	case kindFull:
		if f.Run == j.self.Call {
			return false, errors.New("join: " + string(f.data))
		}
	case kindRoster:
		r := new(roster)
		if proto.DecodeCBOR(f.data, r) != nil || j.comm != nil && m.From > j.coordinator {
			return false, nil
		}
		rank := r.rank(libpeer.ID(j.self.ID))
		if rank < 0 {
			if len(r.Members) != j.size {
				return false, fmt.Errorf("join: the group has %d members, not %d", len(r.Members), j.size)
			}
			return false, fmt.Errorf("join: %w", errFull)
		}
		if r.Members[rank].Call != j.self.Call || len(r.Members) != j.size {
			return false, nil // of an earlier call
		}
		j.accept(r, f.Run, m.From)
		j.unanswered = true
	case kindAccept:
		if j.accepted == nil || f.Run != j.comm.run {
			return false, nil
		}
		if j.accepted[m.From] = true; len(j.accepted) == j.size-1 {
			h := header{Kind: kindStart, Run: f.Run}
			return true, j.g.Cast(ctx, h.append(nil))
		}
	case kindStart:
		return j.comm != nil && f.Run == j.comm.run && m.From == j.coordinator, nil
	default:
		if j.comm != nil && f.Run == j.comm.run {
			j.comm.handle(m) // of a member that has started
		}
	}
	return false, nil
}

// left handles the end of a session.
func (j *joining) left(id libpeer.ID) {
	delete(j.joined, id)
	if j.asked == id {
		j.asked = ""
	}
	if j.comm != nil && (id == j.coordinator || j.accepted != nil && j.comm.roster.rank(id) >= 0) {
		j.reset()
	}
}

var errFull = errors.New("the group is full")

// post sends a message without waiting. If it fails, the session with the member has ended too.
func (j *joining) post(ctx context.Context, to libpeer.ID, h header) {
	go func() { _ = j.g.Send(ctx, to, h.append(nil)) }()
}

// reject tells a node that it cannot join.
func reject(ctx context.Context, g *group.Group, to libpeer.ID, call uint64, why error) {
	ctx, cancel := context.WithTimeout(ctx, abortTimeout)
	defer cancel()
	h := header{Kind: kindFull, Run: call, Total: uint32(len(why.Error()))}
	_ = g.Send(ctx, to, h.append([]byte(why.Error())))
}
