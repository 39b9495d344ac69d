package bench

import (
	"fmt"
	"testing"
)

func TestCheckContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		copies, headers, again float64
		ok                     bool
	}{
		{1.02, 0.01, 0, true},
		{1.07, 0.046, 0, true},
		{1.05, 0.01, 0, false},
		{1.09, 0.01, 0.067, true},
	} {
		err := ClusterCopies{"B", c.copies, c.headers}.CheckContent(c.again)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// contentLimit is the number of copies that may enter a cluster without frame headers:
// copiesLimit less the headers on an idle machine. A busy machine has more headers.
const contentLimit = copiesLimit - 0.015

// String shows all fields in a line.
func (c ClusterCopies) String() string {
	return fmt.Sprintf("%s: %.3f copies, %.3f of them headers", c.Cluster, c.Copies, c.Headers)
}

// CheckContent returns an error if more than one copy entered, without frame headers and
// without the copies that may have crossed again, such as copies of killed nodes.
func (c ClusterCopies) CheckContent(again float64) error {
	if limit := contentLimit + again; c.Copies-c.Headers > limit {
		return fmt.Errorf("%v; without headers at most %.3f should", c, limit)
	}
	return nil
}
