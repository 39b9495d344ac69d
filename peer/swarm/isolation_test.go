package swarm

import (
	"errors"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestSiteReach judges the sessions and dials of members of the site.
func TestSiteReach(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	start := time.Unix(1, 0)
	soon, late := start.Add(isolatedAfter/2), start.Add(isolatedAfter)
	for _, c := range []struct {
		name  string
		run   func(r *siteReach)
		at    time.Time
		known int // 0 if the node is not isolated
	}{
		{"no other member", func(*siteReach) {}, late, 0},
		{"a failed dial of a node of no tracker", func(r *siteReach) { r.failed("x", refused) }, late, 0},
		{"members that are being dialed", func(r *siteReach) { r.named("a", start) }, late, 0},
		{"a failed dial, early", func(r *siteReach) {
			r.named("a", start)
			r.failed("a", refused)
		}, soon, 0},
		{"a failed dial of two members", func(r *siteReach) {
			r.named("a", start)
			r.named("b", soon)
			r.failed("a", refused)
		}, late, 2},
		{"a session", func(r *siteReach) {
			r.named("a", start)
			r.failed("a", refused)
			r.joined("b")
		}, late, 0},
		{"a session that ended, and no dial since", func(r *siteReach) {
			r.named("a", start)
			r.joined("b")
			r.failed("a", refused)
			r.left(start)
		}, late, 0},
		{"a session that ended, and a failed dial", func(r *siteReach) {
			r.named("a", start)
			r.joined("b")
			r.left(start)
			r.failed("a", refused)
		}, late, 1},
		{"a member that answered", func(r *siteReach) {
			r.named("a", start)
			r.failed("a", &proto.RemoteError{Code: proto.CodeUnknownSwarm})
		}, late, 0},
		{"a member that was tried often", func(r *siteReach) {
			r.named("a", start)
			for range maxSiteFails + 1 {
				r.failed("a", refused)
			}
		}, late, 0},
		{"the same, and named again", func(r *siteReach) {
			r.named("a", start)
			for range maxSiteFails + 1 {
				r.failed("a", refused)
			}
			r.named("a", start)
		}, late, 1},
	} {
		r := newSiteReach("lyon/rack1")
		c.run(&r)
		got := r.isolation(c.at)
		if c.known == 0 && got != nil || c.known > 0 && (got == nil || *got != Isolation{"lyon", c.known, refused.Error()}) {
			t.Errorf("%s: %+v, want %d known", c.name, got, c.known)
		}
	}
}
