package launch

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxRecord)
	for text, want := range map[string][]string{
		"":                                       nil,
		"Welcome\n\x1e{\"a\":1}\n":               {`{"a":1}`},
		"\x1e{\"a\":1}\nnoise\x1e2\n\x1e\"c\"\n": {`{"a":1}`, `2`, `"c"`},
		"\x1enot JSON\n\x1e1\n":                  {`1`},
		"\x1e{\"cut\":\x1e{\"off\":1}\n":         {`{"off":1}`},
		"\x1e\x1e\x1e1\n":                        {`1`},
		"\x1e\"" + long + "\"\n\x1e1\n":          {`1`},
		"\x1e\"" + long[:maxRecord-9] + "\"\n":   {`"` + long[:maxRecord-9] + `"`},
		long + "\x1e1\n":                         {`1`},
		"\x1e{\"the end is missing\":1}":         nil,
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "by byte": iotest.OneByteReader(strings.NewReader(text)),
		} {
			var got []string
			rr := newRecordReader(r)
			for {
				record, err := rr.next()
				if err != nil {
					break
				}
				got = append(got, strings.TrimSpace(string(record)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %.40q: %.80q, want %.80q", name, text, got, want)
			}
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte("hello\n\x1e{}"), "text")
	f.Fuzz(func(t *testing.T, noise []byte, text string) {
		if bytes.IndexByte(noise, separator) >= 0 {
			rr := newRecordReader(bytes.NewReader(noise))
			for {
				if record, err := rr.next(); err != nil {
					return
				} else if !json.Valid(record) {
					t.Fatalf("%q is not JSON", record)
				}
			}
		}
		var b bytes.Buffer
		b.Write(noise)
		if err := WriteRecord(&b, text); err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(text)
		record, err := newRecordReader(&b).next()
		if len(want) < maxRecord && (err != nil || string(bytes.TrimSpace(record)) != string(want)) {
			t.Errorf("after %q: %q, %v, want %q", noise, record, err, want)
		}
	})
}
