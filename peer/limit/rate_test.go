package limit

import "testing"

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"50MB": 50e6, "400Mbit": 50e6, "1.5 MB/s": 1.5e6, "64KiB": 65536, "2GB": 2e9, "10kbit/s": 1250, "1kB": 1000,
		"0": 0, "0MB": 0,
		"": -1, "50": -1, "-50MB": -1, "-0": -1, "50Mb": -1, "MB": -1, "1e9MB": -1, "1B": -1, "10bit": -1, "9999999TB": -1,
		"1.2.3MB": -1, "NaNMB": -1, "50 apples": -1, "0 apples": -1,
	} {
		got, err := ParseRate(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
		if err != nil {
			continue
		}
		if again, err := ParseRate(got.String()); got != 0 && (again != got || err != nil) {
			t.Errorf("%q: %v is read as %v, %v", text, got, again, err)
		}
	}
}
