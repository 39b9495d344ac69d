package proto

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// samplePlan sends to b and c through a pipeline, and to b alone through a partial tree.
func samplePlan() *Plan {
	return &Plan{
		Hosts: []PlanHost{{Name: "a", Cluster: "A"}, {Name: "b", Cluster: "B"}, {Name: "c", Cluster: "B/r1"}},
		Trees: []PlanTree{{Rate: 3_000_000, Parents: []uint32{0, 1, 2}}, {Rate: 1, Parents: []uint32{0, 1, 0}}},
	}
}

func TestPlanRoundTrip(t *testing.T) {
	p := samplePlan()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodePlan(PlanCID(b), b)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("got %+v, %v, want %+v", got, err, p)
	}
	_, err = DecodePlan(ManifestCID([]byte("other")), b)
	checkError(t, err, "does not match its content id")
}

func TestPlanLimits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*Plan)
		want  string
	}{
		{"no hosts", func(p *Plan) { p.Hosts = nil }, "plan of 0 hosts"},
		{"many hosts", func(p *Plan) { p.Hosts = make([]PlanHost, MaxPlanHosts+1) }, "plan of 10001 hosts"},
		{"many trees", func(p *Plan) { p.Trees = make([]PlanTree, MaxPlanTrees+1) }, "4097 trees"},
		{"no name", func(p *Plan) { p.Hosts[1].Name = "" }, "host name of 0 bytes"},
		{"name with a newline", func(p *Plan) { p.Hosts[1].Name = "b\n" }, "control characters"},
		{"no cluster", func(p *Plan) { p.Hosts[1].Cluster = "" }, ""},
		{"bad cluster", func(p *Plan) { p.Hosts[1].Cluster = "a b" }, `host b: cluster name "a b"`},
		{"no rate", func(p *Plan) { p.Trees[1].Rate = 0 }, "tree 2: rate 0"},
		{"high rate", func(p *Plan) { p.Trees[1].Rate = maxRate + 1 }, "tree 2: rate"},
		{"few parents", func(p *Plan) { p.Trees[0].Parents = p.Trees[0].Parents[:2] }, "2 parents for 3 hosts"},
		{"no such parent", func(p *Plan) { p.Trees[0].Parents[2] = 4 }, "parent 4 of 3 hosts"},
		{"too large", func(p *Plan) {
			long := strings.Repeat("n", MaxHost)
			p.Hosts, p.Trees = make([]PlanHost, MaxPlanHosts), make([]PlanTree, 1000)
			for i := range p.Hosts {
				p.Hosts[i] = PlanHost{Name: long, Cluster: "A"}
			}
			for i := range p.Trees {
				p.Trees[i] = PlanTree{Rate: 1, Parents: make([]uint32, MaxPlanHosts)}
			}
		}, "plan of 12"},
	} {
		p := samplePlan()
		tt.spoil(p)
		_, err := p.Encode()
		checkError(t, err, tt.want)
	}
}

// A plan has one encoding, and none that claims more than it has.
func TestDecodePlanRejectsOtherEncodings(t *testing.T) {
	good, err := samplePlan().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "plan of 0 bytes"},
		{"too large", make([]byte, MaxPlan+1), "plan of 8388609 bytes"},
		{"version 2", append([]byte{good[0], 2}, good[2:]...), "version 2, only 1 is known"},
		{"version in two bytes", append([]byte{good[0], 0x18, 1}, good[2:]...), "canonical"},
		{"cut", good[:len(good)-1], "unexpected EOF"},
		{"trailing byte", append(bytes.Clone(good), 0), "extraneous"},
		{"many hosts", []byte{0x83, 1, 0x9a, 0xff, 0xff, 0xff, 0xff}, "plan:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodePlan(PlanCID(tt.b), tt.b)
			checkError(t, err, tt.want)
		})
	}
}
