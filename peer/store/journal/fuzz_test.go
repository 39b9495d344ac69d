package journal

import "testing"

// FuzzReplay replays any bytes. To get past the checksums, it makes those records valid
// whose last byte is even.
func FuzzReplay(f *testing.F) {
	data, _ := write(f)
	f.Add(data[headerSize:])
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := 0; i+recordSize <= len(data); i += recordSize {
			if b := data[i : i+recordSize]; b[31]&1 == 0 {
				r := record{
					kind: recordKind(b[0] % 12), flags: b[1] % 64, index: uint32(b[4] % (testPieces + 2)),
					a: uint64(b[8]), b: uint64(b[16]), number: uint32(i / recordSize),
				}
				copy(b, r.append(nil))
			}
		}
		l, cut := newLedger(&testShape, false), newLedger(&testShape, false)
		records := replay(data, l)
		if int(records)*recordSize > len(data) {
			t.Fatalf("%d records of %d bytes", records, len(data))
		}
		again := replay(data[:records*recordSize], cut)
		if again != records || !equalLedgers(cut, l) {
			t.Errorf("without its tail: %+v, %d records; with it: %+v, %d", cut, again, l, records)
		}
	})
}
