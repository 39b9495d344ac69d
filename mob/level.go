package mob

import (
	"iter"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/proto"
)

// level is a group of nodes that the node is in: its site, a part of the site such as a rack, and
// so on down to its own cluster. The name of a cluster is a path, and its prefixes name the groups.
// Each piece should enter each group once, so all that decides who fetches a piece for a group is
// kept for each, and the same rules hold: MOB's for a cluster. A cluster whose name has one part is
// one level.
//
// A piece from a peer enters the groups that the peer is not in. They are nested, so it may be
// begun if the outermost of them lacks it.
type level struct {
	// Constant.
	index int    // 0 is the site
	name  string // of the group: the first index+1 parts of the cluster's name
	salt  uint64 // see clusterOrder

	// The members of the group, and the siblings: the groups beside it in the same larger one. For
	// the site those are all other sites.
	nodes  map[string][]*node // by group, sorted by id; the own one as well
	others []string           // the names of the siblings, sorted
	links  map[string]*link   // to the siblings
	whole  []*link            // to those that have every piece, or will; none of a site

	// For each piece, holders and claims count the peers of the group that have it, or have claimed
	// it; rarity counts the siblings that have it or have claimed it, as far as they announced it.
	holders, claims, rarity []uint16
	inflow                  inflow // into the group
	seeds                   int    // members that had everything, and that others may relieve

	// The node's part of the work of the group.
	assign.Group
	behind     bool          // others have so much more that the node leaves it to them to fetch: see leaves
	slow       int           // pieces that are slow on their way into the group, as far as they may be stolen
	answerTime time.Duration // see measureAnswers

	known  bool // each member has announced what it has, or failed
	awaits bool // a member is awaited: see reunite
	open   bool // pieces could be fetched for the group when peers were last filled
}

func newLevel(index int, cluster string, pieces int) *level {
	name := proto.ClusterGroup(cluster, index+1)
	return &level{
		index:   index,
		name:    name,
		salt:    clusterSalt(name),
		nodes:   map[string][]*node{},
		links:   map[string]*link{},
		holders: make([]uint16, pieces),
		claims:  make([]uint16, pieces),
		rarity:  make([]uint16, pieces),
		Group:   assign.Group{Size: 1},
	}
}

// members returns the nodes of the group, without the node itself.
func (l *level) members() []*node { return l.nodes[l.name] }

// site returns the outermost level, and own the innermost.
func (s *State) site() *level { return s.levels[0] }
func (s *State) own() *level  { return s.levels[len(s.levels)-1] }

// groupsOf yields the groups in which nodes of a cluster count: those that the node is in as well, and
// the sibling of one that it is not in, if there is one.
func (s *State) groupsOf(cluster string) iter.Seq2[*level, string] {
	return func(yield func(*level, string) bool) {
		shared := proto.SharedParts(cluster, s.cfg.Cluster)
		for _, l := range s.levels[:min(shared+1, len(s.levels))] {
			if !yield(l, proto.ClusterGroup(cluster, l.index+1)) {
				return
			}
		}
	}
}

// nearest yields the members of a group with which the node keeps sessions: MaxLocal at most, those
// first that share the most parts of the cluster's name, and then by id.
func (s *State) nearest(l *level) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		left := s.t.MaxLocal
		for k := len(s.levels) - 1; k >= l.index; k-- {
			for _, n := range s.levels[k].members() {
				if n.shared > k+1 {
					continue // it has come
				}
				if left--; left < 0 || !yield(n) {
					return
				}
			}
		}
	}
}

// home returns the innermost group that both the node and a peer are in, nil if they are of
// different sites.
func (s *State) home(p *peer) *level {
	if p.shared == 0 {
		return nil
	}
	return s.levels[p.shared-1]
}

// groups returns the groups that both the node and a peer are in.
func (s *State) groups(p *peer) []*level { return s.levels[:p.shared] }

// enters reports whether a piece that is being fetched comes from outside of a group.
func (f *fetch) enters(l *level) bool { return f != nil && f.level != nil && f.level.index <= l.index }

// concerns reports whether a piece that is being fetched comes from outside of a group that a peer
// is in, or that is beside one.
func (f *fetch) concerns(p *peer) bool {
	return f != nil && f.level != nil && f.level.index <= p.shared
}
