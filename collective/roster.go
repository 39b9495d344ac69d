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

// roster is the list of members, which the coordinator sends to all of them. Ranks are positions in it.
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
	// joinTimeout bounds a message to it.
	joinTimeout = 3 * time.Second
	// rosterTimeout bounds the time in which all members accept a roster: then its coordinator sends another one.
	rosterTimeout = 5 * time.Second
	// Another member gives a roster up after startTimeout. It is longer: the coordinator may just have sent a start,
	// and the run would end.
	startTimeout = 3 * rosterTimeout
)

// joining is the state of a call of Join.
type joining struct {
	g    *group.Group
	self entry
	size int

	asked       libpeer.ID               // was sent a join
	waiting     time.Time                // for joins, since this member sent its own to all
	unreachable map[libpeer.ID]time.Time // when a join to a member failed
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
		waiting: time.Now(), unreachable: map[libpeer.ID]time.Time{}, joined: map[libpeer.ID]uint64{},
	}
	c, err := j.run(ctx)
	if err != nil {
		g.Close()
		return nil, err
	}
	go c.receive()
	return c, nil
}

// run returns once all members have the roster.
func (j *joining) run(ctx context.Context) (*Comm, error) {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan libpeer.ID)
	for {
		if j.comm == nil {
			j.ask(asking, failed)
			j.coordinate(ctx)
		}
		if j.comm != nil && j.unanswered && j.comm.roster.reached(j.self.ID, j.g.Members()) {
			j.unanswered = false
			h, to := header{Kind: kindAccept, Run: j.comm.run}, j.coordinator
			go func() { _ = j.g.Send(ctx, to, h.append(nil)) }() // if it fails, the session with the member has ended too
		}
		tick, done := context.WithTimeout(ctx, joinEvery)
		m, err := j.g.Receive(tick)
		expired := tick.Err() != nil
		done()
		var started bool
		switch {
		case err == nil:
			started, err = j.handle(ctx, m)
		case ctx.Err() != nil:
			err = fmt.Errorf("join: %d of %d members are known: %w", len(j.g.Members())+1, j.size, context.Cause(ctx))
		case expired:
			err = nil
		}
		if c := j.comm; c != nil && (started || j.size == 1 || c.ctx.Err() != nil) {
			return c, nil // if another member has started and failed, the next call returns the error
		}
		if err != nil {
			return nil, err
		}
		select {
		case id := <-failed:
			j.unreachable[id] = time.Now()
			j.asked = ""
		default:
		}
		if j.overdue() {
			j.reset()
		}
	}
}

// overdue reports whether the roster should have been started or replaced.
func (j *joining) overdue() bool {
	timeout := startTimeout
	if j.accepted != nil {
		timeout = rosterTimeout
	}
	return j.comm != nil && time.Since(j.since) > timeout
}

// reset gives a roster up. If the other members have started with it, the next join has another number, which ends their run.
func (j *joining) reset() { j.comm, j.accepted, j.asked, j.self.Call = nil, nil, "", rand.Uint64() }

// ask sends a join to the member with the lowest peer id that can be reached. If this member has the lowest one, it waits for joins
// and sends its own to all every second: the remaining ones may be in a group without it.
func (j *joining) ask(ctx context.Context, failed chan<- libpeer.ID) {
	lowest := j.lowest(j.g.Members())
	h := header{Kind: kindJoin, Run: j.self.Call, Total: 4}
	b := h.append(binary.BigEndian.AppendUint32(nil, uint32(j.size)))
	switch {
	case lowest == j.asked:
	case lowest != libpeer.ID(j.self.ID):
		j.asked = lowest
		go func() {
			timed, cancel := context.WithTimeout(ctx, joinTimeout)
			defer cancel()
			if err := j.g.Send(timed, lowest, b); err != nil {
				select {
				case failed <- lowest:
				case <-ctx.Done():
				}
			}
		}()
	case time.Since(j.waiting) >= time.Second:
		j.waiting = time.Now()
		_ = j.g.Cast(ctx, b)
	}
}

// lowest returns the lowest peer id of this member and those that can be reached. One that could not be reached is tried again after the
// time to try all such members.
func (j *joining) lowest(members []group.Member) libpeer.ID {
	lowest := libpeer.ID(j.self.ID)
	for _, m := range members {
		at, no := j.unreachable[m.ID]
		if m.ID < lowest && (!no || time.Since(at) > joinTimeout*time.Duration(len(j.unreachable))) {
			lowest = m.ID
		}
	}
	return lowest
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
			j.failAll(ctx, err)
			return false, fmt.Errorf("join: %w", err)
		}
		full := j.comm != nil && time.Since(j.since) <= rosterTimeout // then another roster may have a place
		if full && j.comm.roster.rank(m.From) < 0 {
			reject(ctx, j.g, m.From, f.Run)
			return false, nil
		}
		if call, again := j.joined[m.From]; again && call != f.Run && j.accepted != nil {
			j.reset() // the member has given the roster up
		}
		j.joined[m.From] = f.Run
	case kindFull:
		if f.Run == 0 || f.Run == j.self.Call || j.comm != nil && f.Run == j.comm.run {
			why := errors.New(string(f.data))
			if f.Run == 0 {
				j.failAll(ctx, why)
			}
			return false, fmt.Errorf("join: %w", why)
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
			j.asked = "" // it has the number of an earlier join
			return false, nil
		}
		j.accept(r, f.Run, m.From)
		j.unanswered = true
	case kindAccept:
		if j.accepted == nil || f.Run != j.comm.run || j.overdue() { // the other members may have given the roster up
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

// failAll sends all members the reason why joins fail, as some of them have a wrong size, and waits until they have it. Those
// members do the same: not all of them may have a session with this one.
func (j *joining) failAll(ctx context.Context, why error) {
	ctx, cancel := context.WithTimeout(ctx, rosterTimeout)
	defer cancel()
	_ = j.g.Cast(ctx, rejection(0, why))
	j.g.Flush(ctx)
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

// reject reports to a node that the group is full.
func reject(ctx context.Context, g *group.Group, to libpeer.ID, call uint64) {
	ctx, cancel := context.WithTimeout(ctx, abortTimeout)
	defer cancel()
	_ = g.Send(ctx, to, rejection(call, errFull))
}

// rejection returns the message that ends a call of Join by its number, those that have the roster of a run, or all for 0.
func rejection(run uint64, why error) []byte {
	h := header{Kind: kindFull, Run: run, Total: uint32(len(why.Error()))}
	return h.append([]byte(why.Error()))
}
