package feed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// TestFollow sends heads of all kinds to a follower: it takes each version once, the newest one, and warns of another head of that version.
func TestFollow(t *testing.T) {
	t.Parallel()
	d, key := peertest.NewTracker(), newKey(t)
	var groups [2]*group.Group
	for i := range groups {
		g, err := group.Join(t.Context(), d.Start(t, "A"), group.Config{Key: GroupKey(key.GetPublic())})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		groups[i] = g
	}
	f := &follower{heads: &heads{group: groups[1], key: key.GetPublic(), log: slog.New(slog.DiscardHandler)}, offered: make(chan *Head, 1)}
	f.set(&Head{Seq: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.receive(ctx, f.handle)
	}()
	peertest.Eventually(t, "the two have a session", func() bool {
		all := groups[0].Members()
		return len(all) == 1 && all[0].RTT > 0
	})
	message := func(signed []byte) []byte { return append([]byte{kindHead}, signed...) }
	for _, m := range [][]byte{
		{}, {kindHead}, {kindContent}, {9, 9}, message([]byte("not a head")),
		message(sealed(t, newKey(t), 7, "of another key")),
		message(sealed(t, key, 1, "an old one")),
		message(sealed(t, key, 3, "new")),
	} {
		if err := groups[0].Cast(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if h := <-f.offered; h.Seq != 3 || h.Note != "new" {
		t.Errorf("the first head is %+v", h)
	}
	for _, m := range [][]byte{
		message(sealed(t, key, 2, "replayed")),
		message(sealed(t, key, 3, "a fork")),
		message(sealed(t, key, 3, "new")),
		contentMessage(4, []byte("of no version")),
		message(sealed(t, key, 5, "the last one")),
	} {
		if err := groups[0].Cast(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if h := <-f.offered; h.Seq != 5 {
		t.Errorf("the second head is %+v", h)
	}
	if signed, _ := headOf(groups[1].Newest()); !slices.Equal(signed, sealed(t, key, 5, "the last one")) {
		t.Error("new members do not get the newest head")
	}
	cancel()
	<-ended
}

// TestHostileMember sends content that is not the publisher's, and a thousand invalid and old heads: the content of the publisher is
// taken, and the log has a line for each kind.
func TestHostileMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const publisher, other = libpeer.ID("publisher"), libpeer.ID("other")
		var log bytes.Buffer
		key := newKey(t)
		f := &follower{
			heads:   &heads{group: new(group.Group), key: key.GetPublic(), log: slog.New(slog.NewTextHandler(&log, nil))},
			offered: make(chan *Head, 1),
		}
		send := func(from libpeer.ID, b []byte) { f.handle(&group.Message{From: from, Bytes: b}) }

		content := bytes.Repeat([]byte("x"), 10_000)
		h := &Head{Seq: 2, Time: time.Now(), Link: linkOf(t), node: publisher, push: true}
		h.Link.Length = int64(len(content))
		if err := h.seal(key); err != nil {
			t.Fatal(err)
		}
		old, huge := sealed(t, key, 1, "old"), make([]byte, maxHead+1)
		send(other, headMessage(h))
		for range 1000 {
			send(other, contentMessage(2, bytes.Repeat([]byte("y"), len(content))))
			send(publisher, contentMessage(2, content[1:]))
			send(other, append([]byte{kindHead}, old...))
			send(other, append([]byte{kindHead}, huge...))
			send(other, headMessage(h))
		}
		if got := <-f.offered; got.Seq != 2 || !got.relayed || len(got.Inline) > 0 {
			t.Errorf("the head of version %d with %d bytes of content, relayed: %v", got.Seq, len(got.Inline), got.relayed)
		}
		send(publisher, contentMessage(2, content))
		if got := <-f.offered; got.Seq != 2 || !bytes.Equal(got.Inline, content) {
			t.Errorf("version %d with %d bytes of content", got.Seq, len(got.Inline))
		}
		send(publisher, contentMessage(2, bytes.Repeat([]byte("y"), len(content)))) // by a relay that forges the sender
		if len(f.offered) > 0 {
			t.Error("the content of a version is offered twice")
		}
		send(publisher, headMessage(h)) // there is no version to report
		if lines := bytes.Count(log.Bytes(), []byte("\n")); lines != 3 {
			t.Errorf("%d lines:\n%s", lines, log.Bytes())
		}
	})
}

// The host of the publisher accepts connections and answers nothing: a follower does not wait for it, and reports once it answers.
func TestReportToSilentPublisher(t *testing.T) {
	t.Parallel()
	key, host, d := newKey(t), peertest.Stranger(t), peertest.NewTracker()
	secret := GroupKey(key.GetPublic())
	sum := sha256.Sum256(append([]byte("mob-group:"), secret[:]...))
	id := proto.ManifestCID(sum[:])
	d.Add(&proto.Link{Manifest: id}, proto.Member{ID: proto.PeerID(host.ID()), Cluster: "A", Addrs: [][]byte{host.Addrs()[0].Bytes()}})
	dialed := make(chan network.Stream, 8)
	host.SetStreamHandler(proto.GroupProtocol, func(s network.Stream) { dialed <- s })
	g, err := group.Join(t.Context(), d.Start(t, "A"), group.Config{Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	h := &Head{Seq: 7, Time: time.Now(), Link: linkOf(t), node: host.ID()}
	if err := h.seal(key); err != nil {
		t.Fatal(err)
	}
	f := &follower{heads: &heads{group: g, key: key.GetPublic(), log: slog.New(slog.DiscardHandler), newest: h}, kept: kept{Complete: 7}}
	s := <-dialed
	f.report(host.ID())
	go f.receive(t.Context(), f.handle)

	_ = s.SetDeadline(time.Now().Add(peertest.WaitTimeout))
	if _, err := proto.ReadOpening(s); err != nil {
		t.Fatal(err)
	}
	hello, err := proto.AppendFrame(nil, &proto.GroupHello{Key: id.Bytes(), Cluster: "A"})
	if err != nil {
		t.Fatal(err)
	}
	first := &proto.Parcel{Sender: proto.PeerID(host.ID()), Number: 1, Parts: 1, Payload: headMessage(h), Sum: sha256.Sum256(headMessage(h))}
	if _, err := s.Write(proto.AppendParcel(hello, first)); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := proto.ReadGroup(s)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := m.(*proto.Parcel); ok && p.Number&proto.ParcelDirect != 0 {
			var report wireReport
			if err := proto.DecodeCBOR(p.Payload[1:], &report); err != nil || report.Seq != 7 {
				t.Errorf("report %+v, %v", report, err)
			}
			return
		}
	}
}

// A publisher with too many reports forgets the reports of followers that have left.
func TestReportsOfFollowersThatLeft(t *testing.T) {
	p := &publisher{heads: &heads{group: new(group.Group), newest: &Head{Seq: 7}}, reports: map[libpeer.ID]Report{}}
	report, err := proto.EncodeCBOR(wireReport{Seq: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2*maxReports + 1 {
		from := libpeer.ID(fmt.Sprint("follower ", i))
		p.handle(&group.Message{From: from, Bytes: append([]byte{kindReport}, report...)})
		if got := p.reports[from].Seq; got != 7 || len(p.reports) > maxReports {
			t.Fatalf("follower %d has version %d of %d reports", i, got, len(p.reports))
		}
	}
}

// A publisher signs a version while it records the head of another node with its key: the newest one is on the disk.
func TestHeadRecordedBesidePost(t *testing.T) {
	t.Parallel()
	key, dir := newKey(t), t.TempDir()
	if err := datadir.SaveKey(dir, key); err != nil {
		t.Fatal(err)
	}
	p := &publisher{heads: &heads{group: new(group.Group), key: key.GetPublic(), log: slog.New(slog.DiscardHandler)}, dir: dir}
	for seq := uint64(1); seq < 100; seq += 2 {
		signed := sealed(t, key, seq, "of another node")
		handled := make(chan struct{})
		go func() {
			defer close(handled)
			p.handle(&group.Message{Bytes: append([]byte{kindHead}, signed...)})
		}()
		before := p.known()
		for ; before == nil || before.Seq != seq; before = p.known() {
			runtime.Gosched()
		}
		if err := p.sign(&Head{Seq: seq + 1, Time: time.Now(), Link: linkOf(t)}, before); err != nil {
			t.Fatal(err)
		}
		<-handled
		b, err := os.ReadFile(filepath.Join(dir, headFile))
		if err != nil {
			t.Fatal(err)
		}
		if h, err := openHead(b, p.key); err != nil || h.Seq != seq+1 {
			t.Fatalf("the head on the disk is %+v, %v, want version %d", h, err, seq+1)
		}
	}
}

// The node shuts down while a post waits, or makes a delta.
func TestPostEndsWithFeed(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	feeds, err := Open(n, t.TempDir(), nil, slog.New(slog.DiscardHandler))
	if err == nil {
		err = feeds.New("config", new(Link))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range feeds.all {
		e.role.(*publisher).joined = time.Now().Add(time.Hour) // a post waits for a head of the group
	}
	path, _ := peertest.RandomFile(t, 100)
	v, _ := peertest.Seed(t, n, path, peer.SeedOptions{})
	posted := make(chan error)
	go func() {
		_, err := feeds.Post(t.Context(), "config", v, PublishOptions{})
		posted <- err
	}()
	feeds.Close()
	if err := <-posted; err == nil || !strings.Contains(err.Error(), "the node shuts down") {
		t.Error(err)
	}
}
