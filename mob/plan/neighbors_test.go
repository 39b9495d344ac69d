package plan

import (
	"fmt"
	"testing"
)

func TestNeighbors(t *testing.T) {
	t.Parallel()
	p := &Plan{Hosts: []string{"a", "b", "c", "d"}, Trees: []Tree{
		{Rate: 3, Parents: []int{-1, 0, 1, 1}},
		{Rate: 2, Parents: []int{-1, 2, 0, -1}},
	}}
	for host, want := range map[string]string{"a": "[1 2]", "b": "[0 2 3]", "c": "[1 0]", "d": "[1]", "e": "[]"} {
		if got := fmt.Sprint(p.Neighbors(p.Index(host))); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}
