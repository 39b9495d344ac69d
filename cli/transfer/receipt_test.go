package transfer

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/peer"
)

func TestReceiptNamesIsolation(t *testing.T) {
	t.Parallel()
	st := peer.Status{Root: "/x", Phase: peer.Whole, SwarmStatus: peer.SwarmStatus{Isolation: &peer.Isolation{Cluster: "lyon", Known: 1, Err: "dial: no route"}}}
	var out bytes.Buffer
	if err := printReceipt(&command.App{Env: &command.Env{Out: &out}}, st); err != nil {
		t.Fatal(err)
	}
	const complete = "; 1 member of cluster lyon is known, none can be reached: everything came over the WAN; last error: dial: no route\n"
	if !strings.HasSuffix(out.String(), complete) {
		t.Error(out.String())
	}
}

func TestReceiptLevels(t *testing.T) {
	t.Parallel()
	st := peer.Status{Root: "/x", SwarmStatus: peer.SwarmStatus{Levels: []peer.Level{{Group: "g", In: 10e6}, {Group: "g/1", In: 60e6, Out: 5e6, InRate: 3e6}}}}
	var out bytes.Buffer
	err := printReceipt(&command.App{Env: &command.Env{Out: &out}}, st)
	if want := "; 0 B from WAN, 10 MB from g, 60 MB from g/1, 0 B duplicate"; err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%q, %v; want %q", &out, err, want)
	}
}

func TestReceiptRate(t *testing.T) {
	t.Parallel()
	for in, want := range map[int64]string{
		0:   "/x: 2.0 MB in 2.0s; 0 B from WAN, 0 B from LAN, 0 B duplicate, 2.0 MB already there\n",
		1e6: "/x: 2.0 MB in 2.0s, 500 kB/s; 1.0 MB from WAN, 0 B from LAN, 0 B duplicate, 1.0 MB already there\n",
	} {
		st := peer.Status{Root: "/x", Length: 2e6, Elapsed: 2 * time.Second, SwarmStatus: peer.SwarmStatus{Traffic: peer.Traffic{WANIn: in}}}
		var out bytes.Buffer
		if err := printReceipt(&command.App{Env: &command.Env{Out: &out}}, st); err != nil || out.String() != want {
			t.Errorf("%q, %v; want %q", &out, err, want)
		}
	}
}
