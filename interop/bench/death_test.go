package bench

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
)

// killSize is large enough for a transfer of several seconds on the grid.
const killSize = 72e6

// killAfter is about the middle of a transfer of killSize.
const killAfter = 3 * time.Second

// TestGridSurvivesDeathOfNode kills a node, which resumes afterwards. The guard measures how much later the
// remaining nodes are complete.
func TestGridSurvivesDeathOfNode(t *testing.T) {
	t.Parallel()
	var victim *Daemon
	var had peer.Status
	o := &observedMob{Mob: Mob{Bin: bin(t)}, t: t}
	o.killed = func(d *Daemon) {
		victim, had = d, d.awaitHave(t, 1)
		if had.Have == killSize {
			t.Errorf("%s has %d of %d bytes when it is killed", d.Name(), had.Have, int64(killSize))
		}
	}
	o.after = func(tr *mobTransfer) { resumesWithoutWaste(t, tr, victim, had) }
	r := mustRun(t, fastGrid(t, "4x4", killSize, Kills{Percent: 1, After: killAfter}), o)
	if len(r.Killed) != 1 {
		t.Errorf("%v are killed, want one", r.Killed)
	}
}

// resumesWithoutWaste restarts a killed daemon, which must download no more than was missing.
func resumesWithoutWaste(t *testing.T, tr *mobTransfer, victim *Daemon, had peer.Status) {
	t.Helper()
	back, err := tr.StartDaemon(victim.Node)
	if err != nil {
		t.Error(err)
		return
	}
	st := back.awaitHave(t, int64(killSize))
	// Without the few blocks that the end game requests twice.
	fetched := st.Traffic.WANIn + st.Traffic.LANIn - st.Duplicate
	t.Logf("the daemon had %d bytes, and downloaded %d after its restart", had.Have, fetched)
	if lacked := int64(killSize) - had.Have; fetched > lacked {
		t.Errorf("downloaded %d bytes after the restart, needed at most %d", fetched, lacked)
	}
}

func TestGridSurvivesDeathOfTracker(t *testing.T) {
	t.Parallel()
	b := fastGrid(t, "3x3", killSize, Kills{})
	o := &observedMob{Mob: Mob{Bin: bin(t)}, t: t}
	o.during = func(tr *mobTransfer) {
		tr.Daemons[len(tr.Daemons)-1].awaitHave(t, killSize/4)
		if err := tr.KillTracker(); err != nil {
			t.Error(err)
		}
	}
	mustRun(t, b, o)
}

func TestGridSurvivesDeathOfSource(t *testing.T) {
	t.Parallel()
	b := fastGrid(t, "3x3", killSize, Kills{})
	o := &observedMob{Mob: Mob{Bin: bin(t)}, t: t}
	o.during = func(tr *mobTransfer) {
		// A member of the source's cluster downloads everything over the LAN within a
		// moment: by then the source has sent every piece at least once.
		tr.Daemons[0].awaitHave(t, int64(killSize))
		if err := tr.Source.Kill(); err != nil {
			t.Error(err)
		}
	}
	mustRunWasteful(t, b, o)
}

// TestGridPlannedSurvivesDeathOfRelay kills a node during a transfer along a chain, in which all but the
// last relay. Those after it steal, and the content enters no cluster twice for that.
func TestGridPlannedSurvivesDeathOfRelay(t *testing.T) {
	t.Parallel()
	planned := Mob{Bin: bin(t), Options: []string{PlanOption + "chain"}}
	r := mustRun(t, fastGrid(t, "3x3", killSize, Kills{Percent: 1, After: 2 * killAfter}), planned)
	if len(r.Killed) != 1 {
		t.Errorf("%v are killed, want one", r.Killed)
	}
	for _, c := range r.Copies[1:] {
		t.Logf("%s was killed; %.3f copies entered %s", r.Killed, c.Copies, c.Cluster)
		if c.Copies > 1.15 { // with the headers, and what was in flight to the victim
			t.Errorf("%.3f copies entered %s", c.Copies, c.Cluster)
		}
	}
}
