package timer

import (
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	var table Table
	now := time.Unix(1, 0)
	if !table.Next().IsZero() || table.Expired(Turn, now) {
		t.Error("an empty table has a time")
	}
	table.Sooner(Turn, now.Add(2))
	table.Sooner(Turn, now.Add(3))
	table.Sooner(Lazy, now.Add(4))
	if at := table.Next(); !at.Equal(now.Add(2)) || table.Expired(Turn, now.Add(1)) || !table.Expired(Turn, now.Add(2)) {
		t.Errorf("the first time is %v, or it expires early or never", at)
	}
	if at := table.Next(); !at.Equal(now.Add(4)) {
		t.Errorf("after one has expired the next is %v", at)
	}
}
