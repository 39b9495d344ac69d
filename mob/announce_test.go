package mob

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// TestBusyMembersGetBatches stores pieces that are new to a cluster, one after the other. A member is
// sent each immediately, unless machines are busy: then one message has several.
func TestBusyMembersGetBatches(t *testing.T) {
	const pieces = 8
	for answer, most := range map[time.Duration]int{time.Millisecond: pieces, 300 * time.Millisecond: 2} {
		s := newWitness("b", "B")
		s.joins("B", "c")
		s.hears(Received{"c", &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
		s.Site().AnswerTime = answer
		take[Send](s)
		for i := range pieces {
			s.now = s.now.Add(time.Millisecond)
			s.did = append(s.did, s.Step(s.now, Stored{Piece: i})...)
		}
		s.hears(Tick{}, Tick{})
		messages, told := 0, 0
		for _, a := range take[Send](s) {
			if m, ok := a.Message.(*proto.Have); ok {
				messages++
				for range bitset.Numbers(m.Have, 64) {
					told++
				}
			}
		}
		if told != pieces || messages > most || most == pieces && messages < most {
			t.Errorf("members answer in %v: %d messages told of %d pieces, want %d of %d", answer, messages, told, most, pieces)
		}
	}
}

// TestClaimsTakeAlongHaves checks that a message with a claim has the pending haves too, and that no
// further message follows it immediately.
func TestClaimsTakeAlongHaves(t *testing.T) {
	s := newWitness("b", "B")
	step := func(evs ...Event) {
		for _, ev := range evs {
			s.now = s.now.Add(10 * time.Millisecond)
			s.did = append(s.did, s.Step(s.now, ev)...)
		}
	}
	step(Stored{Piece: 63}) // updates wait less at the start
	all := []proto.Range{{Count: 64}}
	for i := range 40 {
		id := proto.PeerID(fmt.Sprintf("c%02d", i))
		step(Joined{Node: Node{ID: id, Cluster: "B"}}, Received{id, &proto.Have{}}, Received{id, &proto.Want{Pieces: all}})
	}
	step(Received{"c00", &proto.Have{Have: all}}, Received{"c02", &proto.Have{Have: all}})
	for range 200 {
		step(Tick{})
	}
	take[Send](s)
	const claims = 8
	told, messages := 0, 0
	for i := range 32 {
		if i%(32/claims) == 0 {
			s.out = nil
			s.announceTo(s.Joined["c01"], 32+i, avail.Claim, true)
			s.flushPeer(s.Joined["c01"])
			s.did = append(s.did, s.out...)
		}
		step(Stored{Piece: i})
		for range 10 {
			step(Tick{})
		}
	}
	for _, a := range take[Send](s) {
		if m, ok := a.Message.(*proto.Have); ok && a.Peer == "c01" {
			messages++
			for range bitset.Numbers(m.Have, 64) {
				told++
			}
		}
	}
	if told < 32-32/claims || messages > 2*claims {
		t.Errorf("%d messages told of %d of 32 pieces, want at most one with and one between %d claims", messages, told, claims)
	}
}
