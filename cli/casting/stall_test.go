package casting

import (
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cli/term"
)

// TestCastWaitsFor checks the reasons and remedies of a cast that stalls.
func TestCastWaitsFor(t *testing.T) {
	t.Parallel()
	hosts := func(length int64, hosts ...cast.HostResult) term.Progress {
		return frame{cfg: cast.Config{Source: "-", Shell: []string{"srun", "-w", "%h"}}, source: cast.Source{Length: length, Read: 100}, hosts: hosts}
	}
	login := []cast.HostResult{{Host: cast.Host{Name: "n1"}, Phase: cast.Login}}
	for _, c := range []struct {
		name         string
		m            term.Progress
		what, remedy string // "" for neither
	}{
		{"login", hosts(100, login...), "waiting for the login of n1", "`srun -w n1 true`"},
		{"host", hosts(100, cast.HostResult{Host: cast.Host{Name: "n1"}, Phase: cast.Fetching, Progress: cast.Progress{Bytes: 50, Waiting: "the disk"}}),
			"waiting for n1, 50%, no progress for ", "does that host answer"},
		{"files are listed", frame{cfg: cast.Config{Source: "src"}, source: cast.Source{Length: -1}, hosts: login}, "hashing src", "does the disk answer"},
		{"files are hashed", frame{cfg: cast.Config{Source: "src"}, source: cast.Source{Length: 100, Read: 99}, hosts: login}, "hashing src", "does the disk answer"},
		{"stream that no host waits for", hosts(-1, cast.HostResult{Phase: cast.Fetching, Progress: cast.Progress{Bytes: 100}}), "", ""},
	} {
		what, remedy := c.m.Waiting()
		if !strings.HasPrefix(what, c.what) || (what == "") != (c.what == "") ||
			!strings.Contains(remedy, c.remedy) || (remedy == "") != (c.remedy == "") {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, what, remedy, c.what, c.remedy)
		}
	}
}

// TestHashingIsProgress checks that a gather does not stall while a host hashes its files.
func TestHashingIsProgress(t *testing.T) {
	t.Parallel()
	at := func(moved time.Time) any {
		return frame{cfg: cast.Config{Output: "out"}, hosts: hosts{{Phase: cast.Fetching}, {Phase: cast.Fetching, Moved: moved}}}.Position()
	}
	now := time.Now()
	if at(now) == at(now.Add(time.Second)) {
		t.Error("the position does not change with the progress of a host")
	}
}
