package peer

import (
	"testing"
	"time"
)

func TestLingerOver(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	for _, tt := range []struct {
		name                            string
		sessions, done, nodes, complete int
		waited, served, now             time.Duration // since start
		want                            bool
	}{
		{"alone, without trackers", 0, 0, 0, 0, 0, 0, 0, true},
		{"alone, with a tracker", 0, 0, 1, 1, 0, 0, 0, true},
		{"every node complete", 0, 0, 3, 3, time.Second, 0, time.Second, true},
		{"incomplete session", 1, 0, 0, 0, time.Second, 0, time.Second, false},
		{"session that trackers do not count", 1, 0, 2, 2, time.Second, 0, time.Second, false},
		{"node with a part of the content", 0, 1, 2, 1, time.Second, 0, time.Second, true},
		{"node with a part, and an incomplete node without a session", 0, 1, 3, 1, time.Second, 0, time.Second, false},
		{"incomplete node, at a tracker that has forgotten this node", 0, 0, 1, 0, time.Second, 0, time.Second, false},
		{"complete node without a session", 0, 0, 2, 2, time.Second, 0, time.Second, true},
		{"incomplete node without a session", 0, 0, 2, 1, time.Second, 0, time.Second, false},
		{"session lost for less than 3 s, without trackers", 0, 0, 0, 0, time.Second, time.Second, 3900 * time.Millisecond, false},
		{"session lost for 3 s, without trackers", 0, 0, 0, 0, time.Second, time.Second, 4 * time.Second, true},
		{"nothing requested for less than 10 s", 1, 0, 2, 1, 14 * time.Second, 5 * time.Second, 14 * time.Second, false},
		{"nothing requested for 10 s", 1, 0, 2, 1, 15 * time.Second, 5 * time.Second, 15 * time.Second, true},
		{"requests for an hour", 1, 0, 2, 1, time.Hour, time.Hour, time.Hour + time.Second, false},
	} {
		l := linger{sessions: tt.sessions, done: tt.done, nodes: tt.nodes, complete: tt.complete, served: start.Add(tt.served)}
		if tt.waited > 0 {
			l.waited = start.Add(tt.waited)
		}
		if got := l.over(start.Add(tt.now)); got != tt.want {
			t.Errorf("%s: over is %v", tt.name, got)
		}
	}
}
