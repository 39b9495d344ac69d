package metadata

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	if r, err := LoadRecord(dir); err == nil {
		t.Errorf("loaded %+v without a file", r)
	}
	for _, want := range []Record{
		{
			Seed:  true,
			Root:  "/data/x\n",
			Link:  "magnet:?xt=urn:mob:b",
			Whole: true,
			Have:  7,
			Bytes: 1 << 40,
			Added: time.Unix(1e9, 5).UTC(),
		},
		{Stopped: true, Begun: true},
	} {
		if err := want.Save(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadRecord(dir); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, recordFile), []byte(`{"seed": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := LoadRecord(dir); err == nil {
		t.Errorf("loaded %+v from an invalid file", r)
	}
}
