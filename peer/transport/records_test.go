package transport

import (
	"encoding/binary"
	"slices"
	"testing"
)

// record returns a TLS record with that much payload.
func record(payload int) []byte {
	b := make([]byte, recordHeader+payload+recordOverhead)
	b[0], b[1], b[2] = 23, 3, 3
	binary.BigEndian.PutUint16(b[3:], uint16(payload+recordOverhead))
	return b
}

func TestMissing(t *testing.T) {
	full, small := record(maxRecord), record(100)
	for name, c := range map[string]struct {
		received       []byte
		expected, want int
	}{
		"nothing":                     {nil, 0, 1},
		"between records":             {full, 0, 1},
		"part of a header":            {full[:2], 0, 3},
		"a header":                    {full[:5], 0, len(full) - 5},
		"part of a record":            {full[:1000], 0, len(full) - 1000},
		"block in one record":         {nil, 100, len(small)},
		"started block in one record": {small[:50], 100, len(small) - 50},
		"block in three records":      {nil, 2*maxRecord + 100, 2*len(full) + len(small)},
		"same, first header started":  {full[:3], 2*maxRecord + 100, 2*len(full) + len(small) - 3},
		"same, first record started":  {full[:1000], 2*maxRecord + 100, 2*len(full) + len(small) - 1000},
		"same, second record started": {slices.Concat(full, full[:1000]), maxRecord + 100, len(full) + len(small) - 1000},
	} {
		t.Run(name, func(t *testing.T) {
			var r records
			r.feed(c.received)
			if got := r.missing(c.expected); got != c.want {
				t.Errorf("missing(%d) = %d, want %d", c.expected, got, c.want)
			}
		})
	}
}

// FuzzMissing splits blocks into records, and those into parts: missing must never
// exceed what will come, and never be 0.
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
			expected := 0 // payload of the incomplete records
			end := 0      // of the current record
			for i := len(ends) - 1; i >= 0 && ends[i] > at; i-- {
				expected += carried[i]
				end = ends[i]
			}
			if started := end - at; r.left > 0 && r.missing(0) != started {
				t.Fatalf("at %d: missing(0) = %d, want %d", at, r.missing(0), started)
			}
			if got := r.missing(expected); got < 1 || got > len(stream)-at {
				t.Fatalf("at %d: missing(%d) = %d, and %d bytes will come", at, expected, got, len(stream)-at)
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
			t.Errorf("at the end missing(0) = %d, want 1", r.missing(0))
		}
	})
}
