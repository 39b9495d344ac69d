package group_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/peertest"
)

// BenchmarkIdleGroup measures 64 nodes of one cluster in this process, each with a session to every other one, during two heartbeats:
// the time of the CPU that each takes beyond a node without a group, in percent of a core.
func BenchmarkIdleGroup(b *testing.B) {
	const size, period = 64, 30 * time.Second
	nodes := peertest.Clusters(b, 1, size)
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	idle := func() float64 {
		before := used()
		time.Sleep(period)
		return 100 * (used() - before).Seconds() / period.Seconds() / size
	}
	for b.Loop() {
		alone := idle()
		join(b, nodes)
		time.Sleep(5 * time.Second) // after the dials
		b.ReportMetric(idle()-alone, "%core/node")
		b.ReportMetric(alone, "%core/node-without")
	}
}
