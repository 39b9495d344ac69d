package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/mobgrid/mob/proto"
)

func TestDocumentIsThePlan(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		p := drawPlan(rng, 2+rng.IntN(20), 1+rng.IntN(10))
		for h := range p.Hosts {
			p.Clusters = append(p.Clusters, fmt.Sprint("c", h%3))
		}
		d := p.Document()
		b, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if d, err = proto.DecodePlan(proto.PlanCID(b), b); err != nil {
			t.Fatal(err)
		}
		got, err := Read(d)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p.Trees { // as the document has them
			p.Trees[k].Rate = float64(d.Trees[k].Rate)
		}
		if !reflect.DeepEqual(got, p) {
			t.Fatalf("got %+v, want %+v", got, p)
		}
	}
}

func TestReadRejectsInvalidPlans(t *testing.T) {
	t.Parallel()
	for want, parents := range map[string][]uint32{
		"no way from the source": {0, 3, 2},
		"the source has":         {2, 1, 1},
		"not in the first tree":  {0, 1, 0},
	} {
		d := &proto.Plan{Hosts: []proto.PlanHost{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Trees: []proto.PlanTree{{Rate: 1, Parents: parents}}}
		if _, err := Read(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", parents, err, want)
		}
	}
}
