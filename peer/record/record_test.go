package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	if r, err := Load(dir); err == nil {
		t.Errorf("loaded %+v of nothing", r)
	}
	for _, want := range []Record{
		{Seed: true, Root: "/data/x\n", Link: "magnet:?xt=urn:mob:b", Whole: true, Have: 7, Bytes: 1 << 40, Added: time.Unix(1e9, 5).UTC()},
		{Stopped: true, Begun: true},
	} {
		if err := Save(dir, want); err != nil {
			t.Fatal(err)
		}
		if got, err := Load(dir); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(`{"seed": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Load(dir); err == nil {
		t.Errorf("loaded %+v of rubbish", r)
	}
}
