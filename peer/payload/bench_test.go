package payload

import (
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// benchAssembly assembles pieces in memory from blocks in order, as one peer sends them.
func benchAssembly(b *testing.B, c storetest.Content, block int) {
	b.SetBytes(int64(len(c.Data)))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		st := c.Store(b)
		a := newAssembler(store.NewVerifier(c.Manifest), st)
		b.StartTimer()
		for i := range c.Manifest.Pieces() {
			for _, sp := range blocks(c.Manifest, i, block) {
				data := slice(c, sp)
				parts, err := a.write(sp, data, a.reserve(sp))
				if err != nil || len(parts) != 1 {
					b.Fatal(parts, err)
				}
				if _, _, err := a.verify(sp, data, "a"); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := st.Publish(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssembly(b *testing.B) {
	benchAssembly(b, storetest.Make(b, 1, storetest.File("", 32<<20)), 128<<10)
}

// BenchmarkAssemblyTorrent hashes each byte twice.
func BenchmarkAssemblyTorrent(b *testing.B) {
	benchAssembly(b, storetest.MakeTorrent(b, 1, storetest.Untimed(storetest.File("", 32<<20))...), 16<<10)
}
