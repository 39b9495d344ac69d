package command

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mobgrid/mob/peer"
)

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		interrupted bool
		status      int
		text        string
	}{
		{"done", nil, false, 0, ""},
		{"done before the interrupt mattered", nil, true, 0, ""},
		{"failed", errors.New("the disk is full"), false, 1, "the disk is full"},
		{"failed while interrupted", errors.New("the disk is full"), true, 1, "the disk is full"},
		{"two failures", errors.Join(errors.New("a"), errors.New("b")), false, 1, "a; b"},
		{"a name with a command for terminals", errors.New("no \x1b[2Jfile"), false, 1, "no \uFFFD[2Jfile"},
		{"usage", Usagef("LINK is missing"), false, 2, "LINK is missing (see `mob get --help`)"},
		{"interrupted", context.Canceled, true, 130, "interrupted"},
		{"interrupted somewhere", fmt.Errorf("hash: %w", context.Canceled), true, 130, "interrupted"},
		{"interrupted, with a message", errors.Join(Interruptedf("stopped: kept"), nil), true, 130, "stopped: kept"},
		{"a status", errors.Join(Exitf(3, "the command failed"), nil), false, 3, "the command failed"},
		{"stopped by another", peer.ErrStopped, false, 1, peer.ErrStopped.Error()},
	} {
		status, text := Outcome("mob get", c.err, c.interrupted)
		if status != c.status || text != c.text {
			t.Errorf("%s: %d %q, want %d %q", c.name, status, text, c.status, c.text)
		}
	}
}
