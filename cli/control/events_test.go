package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// serveNode serves a node at the control socket of a folder.
func serveNode(t *testing.T, n *peer.Node, log *slog.Logger, change func(*Server)) (*Server, string) {
	t.Helper()
	data, err := os.MkdirTemp("", "mob") // short, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(data) })
	ln, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Config{Node: n, Limits: limit.NewPolicy(limit.Limits{}, nil), Log: log})
	change(s)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return s, data
}

// TestEvents follows a node that seeds a content to another, until the server ends.
func TestEvents(t *testing.T) {
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	seed, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	s, data := serveNode(t, a, nil, func(*Server) {})
	c, err := Dial(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var now []NodeEvent
	err = c.Events(t.Context(), "", false, func(e NodeEvent) error {
		now = append(now, e)
		return nil
	})
	if err != nil || len(now) != 1 || now[0].Kind != peer.EventPhase || now[0].Phase != peer.Whole || now[0].Bytes != 1<<20 {
		t.Errorf("now %+v, %v", now, err)
	}
	events := make(chan NodeEvent, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Events(t.Context(), seed.Status().Root, true, func(e NodeEvent) error {
			events <- e
			return nil
		})
	}()
	next := func(kind peer.EventKind) NodeEvent {
		t.Helper()
		select {
		case e := <-events:
			if e.Kind != kind || e.Content != seed.ID.String() {
				t.Errorf("%+v, want %s", e, kind)
			}
			return e
		case <-time.After(time.Minute):
			t.Fatalf("no event %s", kind)
			return NodeEvent{}
		}
	}
	next(peer.EventPhase)
	a.SetLimits(limit.Limits{WANUp: 1e9}) // is about the node
	peertest.Wait(t, peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out")))
	if e := next(eventPeers); e.Peers != 1 || e.Joined != 1 || e.Left != 0 {
		t.Errorf("%+v", e)
	}
	if err := seed.Stop(); err != nil {
		t.Fatal(err)
	}
	if e := next(peer.EventPhase); e.Phase != peer.Stopped || e.Error == "" {
		t.Errorf("%+v", e)
	}
	if err := s.Shutdown(t.Context()); err != nil { // it does not wait for the reader
		t.Error(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "exited") {
		t.Errorf("the stream ended with %v", err)
	}
}

// TestEventsThatNobodyReads drops a reader that reads nothing, with a word in the log.
func TestEventsThatNobodyReads(t *testing.T) {
	a := peertest.Start(t, "A")
	var log peertest.Recorder
	_, data := serveNode(t, a, log.Logger(), func(s *Server) { s.eventTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("unix", filepath.Join(data, SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v1/events HTTP/1.1\r\nHost: mobd\r\n\r\n")
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	for i := 0; !strings.Contains(log.String(), "reader of events was dropped"); i++ {
		a.SetLimits(limit.Limits{WANUp: limit.Rate(1e6 + i)})
	}
	c, err := Dial(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var kinds []peer.EventKind
	if err := c.Events(t.Context(), "", false, func(e NodeEvent) error {
		kinds = append(kinds, e.Kind)
		return nil
	}); err != nil || slices.Contains(kinds, peer.EventLimits) {
		t.Errorf("another reader: %q, %v", kinds, err)
	}
}
