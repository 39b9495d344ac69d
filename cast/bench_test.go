package cast

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"
)

var (
	benchHosts  = flag.Int("hosts", 20, "hosts of a benchmark")
	benchSize   = flag.Int("size", 50<<20, "bytes of a benchmark")
	benchWindow = flag.Int("window", 32, "concurrent logins of a benchmark")
	benchTree   = flag.Int("tree", 0, "hosts that each host of a benchmark logs in to")
	benchLogin  = flag.Duration("login", 0, "time of a login of a benchmark")
)

// BenchmarkFile casts a file to hosts of one cluster, on which the program is already. It reports when the
// last host fetched, when the last one was done, and the time after that.
func BenchmarkFile(b *testing.B) { benchmark(b, false) }

// BenchmarkStream casts a stream.
func BenchmarkStream(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, stream bool) {
	path, content := randomFile(b, "src", *benchSize)
	b.SetBytes(int64(len(content)))
	var starts, fetches, ends time.Duration
	for b.Loop() {
		g := newGrid(b, hostNames(*benchHosts)...)
		cfg := g.config(path, hostNames(*benchHosts)...)
		cfg.Window, cfg.Tree = *benchWindow, *benchTree
		for _, name := range hostNames(*benchHosts) {
			g.onLogin(name, fmt.Sprintf("sleep %f\n", benchLogin.Seconds()))
		}
		if stream {
			cfg.Exec = "cat >src"
		}
		var mu sync.Mutex
		began, fetching := time.Now(), time.Duration(0)
		phases := map[int]Phase{}
		cfg.Event = func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Host != nil && phases[e.Index] != e.Host.Phase {
				if phases[e.Index] = e.Host.Phase; e.Host.Phase == Fetching {
					fetching = time.Since(began)
				}
			}
		}
		r := g.mustCast(cfg)
		starts += fetching
		fetches += r.Took
		ends += time.Since(began) - r.Took
	}
	n := float64(b.N)
	b.ReportMetric(starts.Seconds()/n, "s-started")
	b.ReportMetric(fetches.Seconds()/n, "s-done")
	b.ReportMetric(ends.Seconds()/n, "s-after")
}
