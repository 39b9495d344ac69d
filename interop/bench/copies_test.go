package bench

import "testing"

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
