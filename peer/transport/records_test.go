package transport

import (
	"encoding/binary"
	"testing"
)

// record is a TLS record as it is on the wire, with that much payload.
func record(payload int) []byte {
	b := make([]byte, recordHeader+payload+recordExtra)
	b[0], b[1], b[2] = 23, 3, 3
	binary.BigEndian.PutUint16(b[3:], uint16(payload+recordExtra))
	return b
}

func TestMissing(t *testing.T) {
	full, small := record(maxRecord), record(100)
	for name, c := range map[string]struct {
		come           []byte
		expected, want int
	}{
		"nothing is expected":            {nil, 0, 1},
		"between records":                {full, 0, 1},
		"a part of a header":             {full[:2], 0, 3},
		"a header":                       {full[:5], 0, len(full) - 5},
		"a part of a record":             {full[:1000], 0, len(full) - 1000},
		"a block in one record":          {nil, 100, len(small)},
		"the same, under way":            {small[:50], 100, len(small) - 50},
		"a block in three records":       {nil, 2*maxRecord + 100, 2*len(full) + len(small)},
		"the same, a header under way":   {full[:3], 2*maxRecord + 100, 2*len(full) + len(small) - 3},
		"the same, the first under way":  {full[:1000], 2*maxRecord + 100, 2*len(full) + len(small) - 1000},
		"the same, the second under way": {append(record(maxRecord), full[:1000]...), maxRecord + 100, len(full) + len(small) - 1000},
	} {
		t.Run(name, func(t *testing.T) {
			var r records
			r.feed(c.come)
			if got := r.missing(c.expected); got != c.want {
				t.Errorf("%d bytes are missing, want %d", got, c.want)
			}
		})
	}
}

// FuzzMissing sends blocks in records as the fuzzer likes them, in parts as it likes
// them: nobody may wait for more than will come, or for nothing.
func FuzzMissing(f *testing.F) {
	f.Add([]byte{}, []byte{1})
	f.Add([]byte{0, 1, 255, 3}, []byte{1, 2, 5, 255})
	f.Fuzz(func(t *testing.T, payloads, parts []byte) {
		var stream []byte
		var ends []int // of records
		var carried []int
		for _, p := range payloads[:min(len(payloads), 40)] {
			n := int(p) * maxRecord / 255
			stream = append(stream, record(n)...)
			ends, carried = append(ends, len(stream)), append(carried, n)
		}
		var r records
		for at, k := 0, 0; at < len(stream); k++ {
			expected := 0 // what is in the records that are not whole yet
			end := 0      // of that under way
			for i := len(ends) - 1; i >= 0 && ends[i] > at; i-- {
				expected += carried[i]
				end = ends[i]
			}
			if begun := end - at; r.left > 0 && r.missing(0) != begun {
				t.Fatalf("at %d: %d bytes of the record are missing, want %d", at, r.missing(0), begun)
			}
			if got := r.missing(expected); got < 1 || got > len(stream)-at {
				t.Fatalf("at %d: %d bytes are missing, and %d will come", at, got, len(stream)-at)
			}
			part := 1
			if len(parts) > 0 {
				part += int(parts[k%len(parts)]) * 64
			}
			part = min(part, len(stream)-at)
			r.feed(stream[at : at+part])
			at += part
		}
		if r.missing(0) != 1 {
			t.Errorf("at the end %d bytes are missing", r.missing(0))
		}
	})
}
