package group

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

var start = time.Unix(1e9, 0)

// parcels returns the parts of a message.
func parcels(from string, number uint64, text string, parts int) (out []*proto.Parcel) {
	for i := range parts {
		out = append(out, &proto.Parcel{
			Sender: proto.PeerID(from), Number: number, Part: uint16(i), Parts: uint16(parts), Sum: sha256.Sum256([]byte(text)),
			Payload: []byte(text[i*len(text)/parts : (i+1)*len(text)/parts]),
		})
	}
	return out
}

// drain returns what was delivered.
func (in *inbox) drain() string {
	var all []string
	for a, ok := in.receive(); ok; a, ok = in.receive() {
		all = append(all, string(a.bytes))
	}
	return strings.Join(all, " ")
}

func TestInboxOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(in *inbox)
		want string
	}{
		{"in order", func(in *inbox) {
			for i := range 3 {
				in.add(parcels("a", uint64(5+i), fmt.Sprint("m", i), 1)[0], start)
			}
		}, "m0 m1 m2"},
		{"parts and messages out of order", func(in *inbox) {
			in.first(&proto.Parcel{Sender: "a", Number: 4})
			one, two := parcels("a", 5, "first", 3), parcels("a", 6, "second", 2)
			for _, p := range []*proto.Parcel{two[1], one[2], two[0], one[0], one[1]} {
				in.add(p, start)
			}
		}, "first second"},
		{"a sender that was restarted with an earlier clock", func(in *inbox) {
			const late, early = 2_000_000, 1_000_000
			in.first(&proto.Parcel{Sender: "a", Number: late})
			in.add(parcels("a", late+1, "before", 1)[0], start)
			in.leave("a")
			in.first(&proto.Parcel{Sender: "a", Number: early})
			in.add(parcels("a", early+1, "after", 1)[0], start)
		}, "before  after"},
		{"duplicates", func(in *inbox) {
			for range 3 {
				for _, p := range parcels("a", 5, "text", 2) {
					in.add(p, start)
				}
			}
		}, "text"},
		{"before the session", func(in *inbox) {
			in.first(&proto.Parcel{Sender: "a", Number: 7, Payload: []byte("newest")})
			in.add(parcels("a", 7, "old", 1)[0], start)
			in.add(parcels("a", 8, "new", 1)[0], start)
		}, "newest new"},
		{"relays are ahead of the sender", func(in *inbox) {
			in.of("a").session = true
			in.add(parcels("a", 8, "third", 1)[0], start)
			in.first(&proto.Parcel{Sender: "a", Number: 5})
			in.add(parcels("a", 6, "first", 1)[0], start)
			in.add(parcels("a", 7, "second", 1)[0], start)
		}, "first second third"},
		{"relays are ahead of the newest message", func(in *inbox) {
			in.of("a").session = true
			in.add(parcels("a", 6, "next", 1)[0], start)
			if taken := in.first(&proto.Parcel{Sender: "a", Number: 5, Payload: []byte("newest")}); !slices.Equal(taken, []uint64{6}) {
				t.Errorf("acknowledged %d", taken)
			}
		}, "newest next"},
		{"the sender starts again", func(in *inbox) {
			in.add(parcels("a", 7, "one", 1)[0], start)
			in.first(&proto.Parcel{Sender: "a", Number: 100})
			in.add(parcels("a", 101, "two", 1)[0], start)
		}, "one two"},
		{"a sender without a session starts again", func(in *inbox) {
			in.add(parcels("a", 7, "one", 1)[0], start)
			in.add(parcels("a", 1_000_001, "three", 1)[0], start)
			in.add(parcels("a", 1_000_000, "two", 1)[0], start)
			in.expire(start)
		}, "one two three"},
		{"missed while the session was interrupted", func(in *inbox) {
			in.add(parcels("a", 7, "one", 1)[0], start)
			in.add(parcels("a", 9, "three", 1)[0], start)
			in.expire(start.Add(gapTimeout - 1))
		}, "one"},
		{"gap given up", func(in *inbox) {
			in.add(parcels("a", 7, "one", 1)[0], start)
			in.add(parcels("a", 9, "three", 1)[0], start)
			in.expire(start.Add(gapTimeout))
		}, "one three"},
		{"to this node", func(in *inbox) {
			in.addDirect(parcels("a", 9, "x", 1)[0])
			in.addDirect(parcels("a", 20, "y", 1)[0])
		}, "x y"},
		{"to this node, after half a message", func(in *inbox) {
			in.addDirect(parcels("a", 9, "half", 2)[0])
			for _, p := range parcels("a", 10, "whole", 2) {
				in.addDirect(p)
			}
		}, "whole"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in inbox
			tt.do(&in)
			if got := in.drain(); got != tt.want {
				t.Errorf("delivered %q, want %q", got, tt.want)
			}
			for id, s := range in.sources {
				if len(s.messages) == 0 && s.waiting != 0 || s.waiting != in.waiting || s.unread != 0 || in.unread != 0 {
					t.Errorf("%s is charged %d and %v bytes", id, s.waiting, s.unread)
				}
			}
		})
	}
}

func TestInboxRandomOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var in inbox
		in.first(&proto.Parcel{Sender: "a", Number: 0})
		var all []*proto.Parcel
		var want []string
		for i := range 8 {
			text := fmt.Sprintf("message-%d", i)
			all, want = append(all, parcels("a", uint64(i+1), text, 1+rng.IntN(4))...), append(want, text)
		}
		all = append(all, all...)
		rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		for _, p := range all {
			if _, ok := in.add(p, start); !ok {
				t.Fatal("a valid parcel is corrupt")
			}
		}
		if got := in.drain(); got != strings.Join(want, " ") {
			t.Fatalf("delivered %q", got)
		}
	}
}

func TestInboxRejectsCorruptMessages(t *testing.T) {
	var in inbox
	bad := parcels("a", 5, "text", 2)
	bad[1].Payload = []byte("XX")
	if _, ok := in.add(bad[0], start); !ok {
		t.Error("the first part is corrupt")
	}
	if _, ok := in.add(bad[1], start); ok {
		t.Error("the message is not corrupt")
	}
	for _, p := range parcels("a", 5, "text", 2) { // from another member
		in.add(p, start)
	}
	if got := in.drain(); got != "text" {
		t.Errorf("delivered %q", got)
	}
	// A forged part does not keep the message from being delivered.
	in.add(parcels("a", 6, "else", 2)[1], start)
	for _, p := range parcels("a", 6, "text", 2) {
		in.add(p, start)
	}
	if got := in.drain(); got != "text" {
		t.Errorf("delivered %q", got)
	}
}

func TestInboxFull(t *testing.T) {
	var in inbox
	text := strings.Repeat("x", proto.MaxParcel)
	n := uint64(1)
	for ; !in.full(parcels("a", n, text, 1)[0]); n++ {
		in.add(parcels("a", n, text, 1)[0], start)
	}
	if bytes := n * proto.MaxParcel; bytes < window-2*proto.MaxParcel || bytes > window+proto.MaxParcel {
		t.Errorf("full with %d bytes", bytes)
	}
	if in.full(parcels("b", 1, text, 1)[0]) {
		t.Error("full for another sender too")
	}
	in.receive()
	if in.full(parcels("a", n, text, 1)[0]) {
		t.Error("full after a message was received")
	}
}

// A part of the next message has room whatever waits for it: the streams that bring both must not block.
func TestInboxHasRoomForMissingPart(t *testing.T) {
	var in inbox
	in.first(&proto.Parcel{Sender: "a", Number: 0})
	missing := parcels("a", 1, "first", 2)
	in.add(missing[0], start)
	text := strings.Repeat("x", proto.MaxParcel)
	n := uint64(2)
	for ; in.waiting < window-2*proto.MaxParcel; n++ {
		if taken, _ := in.add(parcels("a", n, text, 1)[0], start); len(taken) > 0 {
			t.Fatalf("%d is acknowledged before 1", taken)
		}
	}
	if in.full(missing[1]) {
		t.Error("no room")
	}
	if taken, _ := in.add(missing[1], start); len(taken) != int(n-1) || in.waiting != 0 || len(in.ready) != len(taken) {
		t.Errorf("acknowledged %d, received %d, want %d; %d bytes wait", len(taken), len(in.ready), n-1, in.waiting)
	}
}

// A malicious member sends parts that never become messages, under many peer ids.
func TestInboxBounds(t *testing.T) {
	var in inbox
	half := *parcels("", 0, strings.Repeat("x", proto.MaxParcel), 2)[0]
	for sender := range 2 * maxMembers {
		id := fmt.Sprint("sender ", sender)
		for n := range uint64(100) {
			p := half
			p.Sender, p.Number = proto.PeerID(id), n+1
			if !in.admits(p.Sender) {
				break
			}
			in.add(&p, start)
		}
		if s := in.sources[proto.PeerID(id)]; s != nil && s.waiting > window {
			t.Fatalf("%d bytes of a sender wait", s.waiting)
		}
	}
	if len(in.sources) > maxMembers || in.waiting > maxHeld+proto.MaxParcel || len(in.ready) > 0 {
		t.Errorf("%d senders, %d bytes", len(in.sources), in.waiting)
	}
	in.expire(start.Add(gapTimeout))
	if in.waiting != 0 || !in.admits("another") {
		t.Errorf("%d bytes wait, %d senders", in.waiting, len(in.sources))
	}
	for range 1000 { // half of each message to this node
		p := half
		p.Sender = "another"
		in.addDirect(&p)
	}
	if n := len(in.of("another").direct); n != 1 {
		t.Errorf("%d parts", n)
	}
	if _, ok := in.addDirect(parcels("another", 1, "text", 3)[2]); ok {
		t.Error("a part that is not the next one is accepted")
	}
	long := parcels("another", 2, strings.Repeat("x", MaxMessage+1), proto.MaxParcels)
	for i, p := range long {
		if done, ok := in.addDirect(p); ok != (i < len(long)-1) || done || len(in.ready) > 0 {
			t.Fatalf("part %d of a message that is too long: %t, %t", i, done, ok)
		}
	}
	for range 1000 {
		in.leave("another")
	}
	if len(in.ready) != 1 {
		t.Errorf("%d arrivals", len(in.ready))
	}
}
