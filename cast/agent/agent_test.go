package agent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// running is an agent in this process.
type running struct {
	t       *testing.T
	stdin   *io.PipeWriter
	reports chan Report
	stderr  bytes.Buffer
	exit    chan int
}

func start(t *testing.T) *running {
	t.Helper()
	in, stdin := io.Pipe()
	out, stdout := io.Pipe()
	r := &running{t: t, stdin: stdin, reports: make(chan Report, 100), exit: make(chan int, 1)}
	var done sync.WaitGroup
	done.Go(func() {
		r.exit <- Run(t.Context(), in, stdout, &r.stderr)
		_ = in.Close()
		_ = stdout.Close()
	})
	done.Go(func() {
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				close(r.reports)
				return
			}
			var rep Report
			if json.Unmarshal([]byte(strings.TrimPrefix(line, "\x1e")), &rep) != nil {
				t.Errorf("no record: %q", line)
			}
			r.reports <- rep
		}
	})
	t.Cleanup(func() {
		_ = stdin.Close()
		done.Wait()
	})
	return r
}

func (r *running) send(m *Message) {
	r.t.Helper()
	if err := json.NewEncoder(r.stdin).Encode(m); err != nil {
		r.t.Fatal(err)
	}
}

// report returns the next report that a function accepts.
func (r *running) report(is func(Report) bool) Report {
	r.t.Helper()
	for rep := range r.reports {
		if is(rep) {
			return rep
		}
	}
	r.t.Fatalf("no such report: %s", &r.stderr)
	return Report{}
}

// ended checks how the agent ended.
func (r *running) ended(status int, text string) {
	r.t.Helper()
	if got := <-r.exit; got != status || !strings.Contains(r.stderr.String(), text) {
		r.t.Errorf("status %d: %q, want %d: %q", got, &r.stderr, status, text)
	}
}

// TestInvalidMessages gives an agent messages that no caster would.
func TestInvalidMessages(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, c := range map[string]struct {
		messages string
		text     string
	}{
		"none":         {"", "lost the caster before it sent Start"},
		"garbage":      {"put 3 abc\nxyz", "lost the caster before it sent Start"},
		"record first": {`{"record":"AAAA"}`, "message before Start"},
		"no key":       {`{"start":{}}`, "mob: "},
		"end first":    {`{"end":{}}`, "the cast was given up"},
		"given up":     {`{"end":{"error":"enough"}}`, "the cast was given up: enough"},
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t)
			_, _ = io.WriteString(a.stdin, c.messages+"\n")
			_ = a.stdin.Close()
			a.ended(1, c.text)
		})
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// testCaster is a node with its tracker and a network, as a caster has them.
type testCaster struct {
	*peer.Node
	secret  *membership.Secret
	tracker *tracker.Server
}

func (c *testCaster) admit(t *testing.T) (crypto.PrivKey, *membership.Grant) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	must(t, err)
	id, err := libpeer.IDFromPrivateKey(key)
	must(t, err)
	grant, err := c.secret.Sign(membership.Certificate{
		Peer:    id,
		Cluster: "local",
		Roles:   membership.DefaultRoles | membership.Track,
		From:    time.Now(),
		To:      time.Now().Add(time.Hour),
	})
	must(t, err)
	return key, grant
}

func startCaster(t *testing.T) *testCaster {
	t.Helper()
	c := new(testCaster)
	var err error
	c.secret, err = membership.NewSecret()
	must(t, err)
	key, grant := c.admit(t)
	dir := t.TempDir()
	must(t, datadir.SaveKey(dir, key))
	c.Node, err = peer.Start(peer.Config{
		Data:    dir,
		Network: &membership.Config{Network: c.secret.ID(), Grant: grant},
		Finder:  func(libhost.Host, []ma.Multiaddr) peer.Finder { return c.tracker.Local() },
	})
	must(t, err)
	c.tracker = tracker.New(c.Host(), nil)
	t.Cleanup(func() {
		must(t, c.Node.Close())
		must(t, c.tracker.Close())
	})
	return c
}

// TestCasterBehindNAT gets a file from a caster that the agent cannot reach, and that reaches the agent.
func TestCasterBehindNAT(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts no connection
	must(t, err)
	defer silent.Close()
	c := startCaster(t)
	_, port, err := net.SplitHostPort(silent.Addr().String())
	must(t, err)
	silentAddr := ma.StringCast("/ip4/127.0.0.1/tcp/" + port)
	at := silentAddr.Encapsulate(ma.StringCast("/p2p/" + c.Host().ID().String()))
	c.SetTrackers([]ma.Multiaddr{at})

	path := filepath.Join(t.TempDir(), "src")
	content := bytes.Repeat([]byte("content "), 50_000)
	must(t, os.WriteFile(path, content, 0o644))
	seed, err := c.Seed(t.Context(), path, peer.SeedOptions{})
	must(t, err)
	link := *seed.Link()
	link.Peers = []ma.Multiaddr{at}

	a := start(t)
	key, grant := c.admit(t)
	secret, err := crypto.MarshalPrivateKey(key)
	must(t, err)
	dest := filepath.Join(t.TempDir(), "copy")
	a.send(&Message{Start: &Start{
		Host:    "host",
		Cluster: "local",
		Key:     secret,
		Network: c.secret.ID().String(),
		Grant:   string(grant.PEM()),
		Caster:  libpeer.AddrInfo{ID: c.Host().ID(), Addrs: []ma.Multiaddr{silentAddr}},
		Link:    link.String(),
		Dest:    dest,
	}})
	ready := a.report(func(r Report) bool { return r.Ready != nil })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	must(t, c.Host().Connect(ctx, *ready.Ready))
	done := a.report(func(r Report) bool { return r.Done != nil || r.Failed != nil })
	if done.Done == nil {
		t.Fatal(done.Failed.Error)
	}
	c.checkMeeting(t, silentAddr)
	got, err := os.ReadFile(dest)
	must(t, err)
	if !bytes.Equal(got, content) {
		t.Errorf("%d bytes of %d", len(got), len(content))
	}
	a.send(&Message{End: &End{}})
	a.ended(0, "")
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// checkMeeting has an agent meet the caster, which connects while the agent's own dial hangs.
func (c *testCaster) checkMeeting(t *testing.T, hangs ma.Multiaddr) {
	t.Helper()
	key, grant := c.admit(t)
	dir := t.TempDir()
	must(t, datadir.SaveKey(dir, key))
	node, err := peer.Start(peer.Config{Data: dir, Network: &membership.Config{Network: c.secret.ID(), Grant: grant}})
	must(t, err)
	met := make(chan struct{})
	go func() {
		defer close(met)
		a := &agent{node: node}
		a.meetCaster(t.Context(), libpeer.AddrInfo{ID: c.Host().ID(), Addrs: []ma.Multiaddr{hangs}})
	}()
	must(t, c.Host().Connect(t.Context(), libpeer.AddrInfo{ID: node.Host().ID(), Addrs: node.Host().Addrs()}))
	<-met
	must(t, node.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNeighbor downloads from malicious neighbors, which know the key of the cast.
func TestNeighbor(t *testing.T) {
	t.Parallel()
	content := []byte("all of it")
	m := shortManifest(content)
	encoded, err := m.Encode()
	must(t, err)
	s := &Start{Link: (&proto.Link{Manifest: proto.ManifestCID(encoded), Name: "file"}).String(), Seal: make([]byte, 32), Dest: "here"}
	m.Name = "file2"
	other, err := m.Encode()
	must(t, err)
	gcm, err := sealer(s.Seal)
	must(t, err)
	for _, c := range []struct {
		name     string
		sent     Start
		accepted bool
	}{
		{"content", Start{Manifest: encoded, Content: content}, true},
		{"other bytes", Start{Manifest: encoded, Content: []byte("ALL OF IT")}, false},
		{"too short", Start{Manifest: encoded}, false},
		{"other manifest", Start{Manifest: other, Content: content}, false},
		{"other fields", Start{Manifest: encoded, Content: content, Dest: "elsewhere", Exec: "sh"}, true},
	} {
		got := *s
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			b, err := json.Marshal(&c.sent)
			if _, e := w.Write(gcm.Seal(nil, nil, b, nil)); err != nil || e != nil {
				t.Error(err, e)
			}
		}))
		got.Neighbor = []string{server.URL}
		accepted := unseal(&got, 5*time.Minute)
		server.Close()
		if accepted != c.accepted || accepted != bytes.Equal(got.Content, content) || got.Dest != "here" || got.Exec != "" {
			t.Errorf("%s: accepted %v, %+v", c.name, accepted, got)
		}
	}
}

// TestNeighborRedirects checks that a malicious neighbor cannot have other hosts send requests elsewhere.
func TestNeighborRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect is followed") }))
	defer elsewhere.Close()
	neighbor := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer neighbor.Close()
	if unseal(&Start{Seal: make([]byte, 32), Neighbor: []string{neighbor.URL}}, sealedTimeout) {
		t.Error("content without bytes is accepted")
	}
}

// TestNeighborHangs checks that an agent does not wait at each address of a neighbor that accepts connections and does not answer.
func TestNeighborHangs(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	gaveUp := make(chan struct{})
	hangs := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-gaveUp
	})
	s := &Start{Seal: make([]byte, 32)}
	for range 3 {
		server := httptest.NewServer(hangs)
		defer server.Close()
		s.Neighbor = append(s.Neighbor, server.URL)
	}
	defer close(gaveUp)
	if unseal(s, 100*time.Millisecond) {
		t.Error("there is content without bytes")
	}
	if n := asked.Load(); n > 1 {
		t.Errorf("it asks at %d addresses", n)
	}
}

// shortManifest returns the manifest of a file.
func shortManifest(content []byte) *proto.Manifest {
	sum := sha256.Sum256(content)
	return &proto.Manifest{Name: "file", PieceLength: proto.MinPieceLength, Hashes: sum[:], Entries: []proto.Entry{
		{Kind: proto.File, Mode: 0o640, MTime: proto.NoMTime, Size: int64(len(content))},
	}}
}

// TestHanded checks agents that get the content in the Start message: they start no node, and check the bytes.
func TestHanded(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	content := []byte("all of it")
	encoded, err := shortManifest(content).Encode()
	must(t, err)
	link := &proto.Link{Manifest: proto.ManifestCID(encoded), Name: "file"}
	other := bytes.Clone(content)
	other[3]++
	for name, c := range map[string]struct {
		there  string // what is at the destination before
		force  bool
		sent   []byte
		failed string
		left   bool // the neighbor that had it first
	}{
		"neighbor left":    {sent: content, left: true},
		"new":              {sent: content},
		"exists":           {there: "mine", sent: content, failed: "exists already"},
		"forced":           {there: "mine, and longer than it", force: true, sent: content},
		"other bytes":      {sent: other, failed: "the content was changed while it was cast"},
		"other, and there": {there: "mine", force: true, sent: other, failed: "the content was changed while it was cast"},
	} {
		t.Run(name, func(t *testing.T) {
			dest := filepath.Join(t.TempDir(), "made", "file")
			if c.there != "" {
				must(t, os.Mkdir(filepath.Dir(dest), 0o755))
				must(t, os.WriteFile(dest, []byte(c.there), 0o600))
			}
			a := start(t)
			m := &Start{Link: link.String(), Manifest: encoded, Content: c.sent, Dest: dest, Force: c.force, Seal: make([]byte, 32)}
			if c.left {
				a.send(&Message{Start: &Start{Link: m.Link, Dest: dest, Seal: m.Seal, Neighbor: []string{"http://127.0.0.1:1/"}}})
				a.report(func(r Report) bool { return r.Missing })
			}
			a.send(&Message{Start: m})
			r := a.report(func(r Report) bool { return r.Done != nil || r.Failed != nil })
			a.send(&Message{End: &End{}})
			if c.failed == "" {
				a.ended(0, "")
				if got, err := os.ReadFile(dest); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%q, %v", got, err)
				}
				if r.Done == nil || r.Done.Bytes != int64(len(content)) {
					t.Errorf("%+v", r)
				}
				return
			}
			a.ended(1, c.failed)
			_, err := os.Lstat(filepath.Dir(dest))
			switch {
			case c.there == "" && err == nil:
				t.Error("something is left")
			case c.there != "" && !c.force:
				if got, _ := os.ReadFile(dest); string(got) != c.there {
					t.Errorf("replaced by %q", got)
				}
			case c.there != "" && !r.Failed.Overwriting:
				t.Error("does not say that the file is overwritten")
			}
		})
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestServingWithoutCaster checks that an agent of a gather does not hash on without a caster, and that one that fetches does.
func TestServingWithoutCaster(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(time.Hour) // a busy machine passes no limit
	for serve, want := range map[string]error{"": nil, "log": errLost} {
		a := &agent{server: new(launch.Server), job: new(serving), given: Start{Serve: serve}}
		if over, err := a.orphaned(&liveness{orphan: true, received: now, moved: now}); over != (want != nil) || !errors.Is(err, want) {
			t.Errorf("serving %q: over %v, %v", serve, over, err)
		}
	}
}
