package bench

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// clientSize is the content of BenchmarkStockClient, in bytes.
const clientSize = 1e9

// BenchmarkStockClient makes a stock client download 1 GB from a daemon and, for comparison,
// from a client of the same kind, between two nodes without a limit between them. It reports
// GB/s from the start of the downloading client until that reports a complete copy, and
// the CPU seconds per GB of the seed.
func BenchmarkStockClient(b *testing.B) {
	for _, c := range []*stock.Client{stock.Find("aria2"), stock.Find("libtorrent")} {
		b.Run(c.Name(), func(b *testing.B) {
			needsClients(b, c)
			for b.Loop() {
				for _, from := range []string{"mob", c.Name()} {
					downloadFrom(b, c, from)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func downloadFrom(b *testing.B, c *stock.Client, from string) {
	f, _ := newTorrentFleet(b, netns.Links{}, 2)
	source, sink := f.Grid.Node("A", 0), f.Grid.Node("A", 1)
	path := randomContent(b, clientSize)
	var to *torrent
	var cpu func() time.Duration
	if from == "mob" {
		d := f.startDaemon(b, source)
		to = seedTorrent(b, d, path, f.announceURL())
		cpu = func() time.Duration { return d.usage(b).CPU }
	} else {
		to = newTorrent(b, f, path, f.announceURL())
		i := to.seed(b, c, source)
		cpu = func() time.Duration { return i.Usage().CPU }
		time.Sleep(10 * time.Second) // it hashes the content, and does not report the end of that
	}
	time.Sleep(time.Second)
	before := cpu()
	began := time.Now()
	i := to.download(b, c, sink)
	for complete := false; !complete; time.Sleep(time.Millisecond) {
		var err error
		complete, err = i.Complete()
		if err != nil {
			b.Fatal(err)
		}
		if time.Since(began) > 2*time.Minute {
			b.Fatal("not complete")
		}
	}
	took := time.Since(began)
	b.ReportMetric(clientSize/1e9/took.Seconds(), "from-"+from+"-GB/s")
	b.ReportMetric((cpu()-before).Seconds()/(clientSize/1e9), "source-"+from+"-cpu-s/GB")
}
