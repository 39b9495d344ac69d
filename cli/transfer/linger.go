package transfer

import (
	"context"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// linger serves complete content to the incomplete nodes of the site, for at most longest or until ctx ends.
func linger(ctx context.Context, a *command.App, t *peer.Transfer, cluster string, longest time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if longest <= 0 {
		return
	}
	n := t.Incomplete(ctx, peer.Site)
	if n == 0 {
		return
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	a.Note("complete; serving %s of %s that %s not (at most %s, Ctrl-C leaves)",
		term.Plural(n, "node"), proto.ClusterGroup(cluster, 1), verb, strings.Replace(longest.String(), "m0s", "m", 1))
	_ = t.WaitAll(ctx, peer.Site) // the content is complete, whatever ends the wait
}
