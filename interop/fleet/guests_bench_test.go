package fleet

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/interop/stock"
)

// guestSize is the content of BenchmarkGuest, in bytes.
const guestSize = 1e9

// BenchmarkGuest has a stock client fetch 1 GB from a daemon, and beside that from
// a client of its own kind, between two nodes without a limit between them: GB/s
// from the start of the client that fetches until it says that all is there, and
// the CPU seconds per GB of the one that serves.
func BenchmarkGuest(b *testing.B) {
	for _, c := range []*stock.Client{stock.Aria2(), stock.Libtorrent()} {
		b.Run(c.Name(), func(b *testing.B) {
			needs(b, c)
			for b.Loop() {
				for _, from := range []string{"mob", c.Name()} {
					fetchAsGuest(b, c, from)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func fetchAsGuest(b *testing.B, c *stock.Client, from string) {
	f, _ := withGuests(b, netns.Links{}, 2)
	source, sink := f.Grid.Node("A", 0), f.Grid.Node("A", 1)
	path := content(b, guestSize)
	var o *offer
	var used func() time.Duration
	if from == "mob" {
		d := f.daemon(b, source)
		o = offerAt(b, d, path, f.announce())
		used = func() time.Duration {
			cpu, err := d.CPU()
			if err != nil {
				b.Fatal(err)
			}
			return cpu
		}
	} else {
		o = newOffer(b, f, path, f.announce())
		r := o.seed(b, c, source)
		used = func() time.Duration { return r.Used().CPU }
		time.Sleep(10 * time.Second) // it hashes what it seeds, and nothing tells when it has done so
	}
	time.Sleep(time.Second)
	before := used()
	began := time.Now()
	r := o.fetch(b, c, sink)
	for whole := false; !whole; time.Sleep(time.Millisecond) {
		var err error
		if whole, err = r.Whole(); err != nil {
			b.Fatal(err)
		}
		if time.Since(began) > 2*time.Minute {
			b.Fatal("not whole")
		}
	}
	took := time.Since(began)
	b.ReportMetric(guestSize/1e9/took.Seconds(), "from-"+from+"-GB/s")
	b.ReportMetric((used()-before).Seconds()/(guestSize/1e9), "source-"+from+"-cpu-s/GB")
}
