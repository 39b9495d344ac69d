package fleet

import (
	"testing"

	"github.com/mobgrid/mob/interop/bench"
)

// BenchmarkGridFast is the 4x4 grid with 240 MB: 0.80 of the bound is 9.6 MB/s.
// `mob bench grid --systems mob` is the same, with more to see.
func BenchmarkGridFast(b *testing.B) {
	bn := fast(b, "4x4", 240e6, bench.Kills{})
	for b.Loop() {
		r := run(b, bn, System{Bin: bin})
		if source := r.Copies[0].Copies; source > 0.05 {
			b.Errorf("%.3f copies entered the source's cluster", source)
		}
		b.ReportMetric(r.Rate/1e6, "MB/s")
		b.ReportMetric(r.Rate/bn.NewReport().Bound, "of-bound")
		for _, c := range r.Copies {
			b.ReportMetric(c.Copies, "copies-"+c.Cluster)
		}
		b.ReportMetric(r.CPU, "cpu-s")
		b.ReportMetric(float64(r.Peak)/1e6, "MB-peak")
		b.ReportMetric(0, "ns/op")
	}
}
