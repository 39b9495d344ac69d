package mob_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/coded"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

var update = flag.Bool("update", false, "record testdata/*.txt again")

// TestScenarios replays testdata/*.txt. A file is blocks of commands, a line of dashes, and what
// the State does about them, up to an empty line. With -update the answers are recorded. Pings
// and pongs are left out.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(text))
			switch {
			case got == string(text):
			case *update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s\nrecord again with -update if this is right; got:\n%s", firstDifference(got, string(text)), got)
			}
		})
	}
}

const dashes = "----"

// replay runs the commands of a file and returns the file with the answers that
// the state gives now.
func replay(t *testing.T, text string) string {
	var out strings.Builder
	var s scenario
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for k := 0; k < len(lines); k++ {
		line := lines[k]
		switch {
		case line == dashes:
			out.WriteString(dashes + "\n" + s.take())
			for k+1 < len(lines) && lines[k+1] != "" {
				k++ // the recorded answer
			}
			continue
		case line != "" && !strings.HasPrefix(line, "#"):
			if err := s.do(strings.Fields(line)); err != nil {
				t.Fatalf("line %d: %q: %v", k+1, line, err)
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d: %q, was %q", i+1, as[i], bs[i])
		}
	}
	return "one is longer"
}

// scenario is a state and what it did since the last answer.
type scenario struct {
	state       *mob.State
	size        int
	now         time.Time
	did         []string
	outstanding []mob.Send // requests that were not answered
	plan        *plan.Plan // nil without one
}

func (s *scenario) take() string {
	text := strings.Join(s.did, "\n")
	s.did = nil
	if text == "" {
		return "nothing\n"
	}
	return text + "\n"
}

func (s *scenario) step(ev mob.Event) {
	for _, a := range s.state.Step(s.now, ev) {
		if send, ok := a.(mob.Send); ok {
			s.note(send)
		}
		if text := describe(a); text != "" {
			s.did = append(s.did, text)
		}
	}
}

// note keeps the list of requests that are not answered.
func (s *scenario) note(a mob.Send) {
	switch m := a.Message.(type) {
	case *proto.Request:
		s.outstanding = append(s.outstanding, a)
	case *proto.Cancel:
		s.removeRequest(a.Peer, m.Span)
	}
}

func (s *scenario) removeRequest(peer proto.PeerID, sp proto.Span) {
	for i, o := range s.outstanding {
		if o.Peer == peer && o.Message.(*proto.Request).Span == sp {
			s.outstanding = append(s.outstanding[:i:i], s.outstanding[i+1:]...)
			return
		}
	}
}

// do carries out one command.
func (s *scenario) do(f []string) error {
	peer := func(i int) proto.PeerID { return proto.PeerID(f[i]) }
	number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	if f[0] != "new" && f[0] != "coded" && f[0] != "planned" && s.state == nil {
		return fmt.Errorf("no state yet")
	}
	switch f[0] {
	case "new": // new SELF CLUSTER PIECES KIB [HAVE]
		s.new(f)
	case "coded": // coded SELF CLUSTER SOURCE-BLOCKS KIB K NAMES LIVE
		s.coded(f)
	case "planned": // planned SELF CLUSTER PIECES KIB ID/CLUSTER...: a chain of these
		s.planned(f)
	case "learned": // learned ID/CLUSTER...
		s.step(mob.Learned{Nodes: s.nodes(f[1:])})
	case "joined": // joined ID/CLUSTER
		s.step(mob.Joined{Node: s.nodes(f[1:])[0]})
	case "left":
		s.step(mob.Left{Peer: peer(1)})
	case "unreachable":
		s.step(mob.Unreachable{Peer: peer(1)})
	case "stored":
		eachOf(f[1], func(i int) { s.step(mob.Stored{Piece: i}) })
	case "lost":
		s.step(mob.Lost{Piece: number(1)})
	case "failed": // failed PIECE SOURCE...
		var ids []proto.PeerID
		for i := range f[2:] {
			ids = append(ids, peer(i+2))
		}
		s.step(mob.Failed{Piece: number(1), Sources: ids})
	case "forged": // forged PIECE SOURCE
		s.step(mob.Failed{Piece: number(1), Sources: []proto.PeerID{peer(2)}, Forged: true})
	case "blamed": // blamed PEER PIECE
		s.step(mob.Blamed{Peer: peer(1), Piece: number(2)})
	case "checked": // checked PEER PIECE [alarm]
		s.step(mob.Checked{Peer: peer(1), Piece: number(2), Alarm: len(f) > 3})
	case "useless": // useless PEER BLOCK
		s.step(mob.Useless{Peer: peer(1), Piece: number(2)})
	case "decoded":
		s.step(mob.Decoded{Generation: number(1)})
	case "polluted":
		s.step(mob.Polluted{Generation: number(1)})
	case "liar":
		s.step(mob.Liar{Peer: peer(1)})
	case "wait":
		return s.wait(f[1])
	case "answer": // answer PEER [COUNT]: the oldest requests at the peer
		s.answer(f)
	case "recv": // recv PEER MESSAGE
		m, err := message(f[2:])
		if err != nil {
			return err
		}
		if r, ok := m.(*proto.Reject); ok {
			s.removeRequest(peer(1), r.Span)
		}
		s.step(mob.Received{Peer: peer(1), Message: m})
	case "status":
		st := s.state.Status()
		s.did = append(s.did, fmt.Sprintf("have %d of %d, fetching %d, rank %d of %d, settling %v",
			st.Have, st.Total, st.Fetching, st.Rank, st.Size, st.Settling))
	default:
		return fmt.Errorf("unknown command")
	}
	return nil
}

func (s *scenario) new(f []string) {
	var have []proto.Range
	if len(f) > 5 {
		have = ranges(f[5])
	}
	s.begin(f, nil, have)
}

// planned begins with a plan of a chain. Nodes call their hosts by their ids.
func (s *scenario) planned(f []string) {
	p := &plan.Plan{Trees: []plan.Tree{{Rate: 1e6}}}
	for h, n := range nodes(f[5:]) {
		p.Hosts, p.Clusters = append(p.Hosts, string(n.ID)), append(p.Clusters, n.Cluster)
		p.Trees[0].Parents = append(p.Trees[0].Parents, h-1)
	}
	s.plan = p
	s.begin(f, nil, nil)
}

// nodes reads ID/CLUSTER..., with the names of hosts in a plan.
func (s *scenario) nodes(f []string) []mob.Node {
	ns := nodes(f)
	for i := range ns {
		if s.plan != nil {
			ns[i].Host = string(ns[i].ID)
		}
	}
	return ns
}

func (s *scenario) coded(f []string) {
	k, _ := strconv.Atoi(f[5])
	names, _ := strconv.Atoi(f[6])
	live, _ := strconv.Atoi(f[7])
	blocks, _ := strconv.Atoi(f[3])
	kib, _ := strconv.Atoi(f[4])
	picker := coded.New(int64(blocks*kib)<<10, kib<<10, coded.Coding{Blocks: k, Names: names, Live: live})
	s.begin(f, picker, nil)
}

func (s *scenario) begin(f []string, picker mob.Picker, have []proto.Range) {
	pieces, _ := strconv.Atoi(f[3])
	kib, _ := strconv.Atoi(f[4])
	*s = scenario{size: kib << 10, now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), did: s.did, plan: s.plan}
	s.state = mob.New(mob.Config{
		Self: proto.PeerID(f[1]), Cluster: f[2], Length: int64(pieces * s.size), PieceLength: s.size,
		Picker: picker, Assignment: assign.Follow(s.plan, f[1]), Seed: 1, Tuning: mob.DefaultTuning(),
	}, have)
	s.step(mob.Tick{})
}

// wait lets time pass, with the ticks that the state asks for.
func (s *scenario) wait(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(min(s.state.Wake(), end.Sub(s.now)))
		s.step(mob.Tick{})
	}
	return nil
}

func (s *scenario) answer(f []string) {
	n := len(s.outstanding)
	if len(f) > 2 {
		n, _ = strconv.Atoi(f[2])
	}
	for _, o := range append([]mob.Send{}, s.outstanding...) {
		if string(o.Peer) != f[1] || n == 0 {
			continue
		}
		n--
		sp := o.Message.(*proto.Request).Span
		s.removeRequest(o.Peer, sp)
		s.step(mob.Arrived{Peer: o.Peer, Span: sp})
	}
}
