package metadata

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	if r, err := LoadRecord(dir); err == nil {
		t.Errorf("loaded %+v without a file", r)
	}
	link := &proto.Link{Manifest: proto.ManifestCID([]byte("manifest")), Name: "x"}
	for _, want := range []Record{
		{
			Seed:  true,
			Root:  "/data/x\n",
			Link:  link,
			Whole: true,
			Have:  7,
			Bytes: 1 << 40,
			Added: time.Unix(1e9, 5).UTC(),
		},
		{Link: link, Stopped: true, Begun: true, Announce: []string{"http://192.0.2.7/announce"}},
	} {
		if err := want.Save(dir); err != nil {
			t.Fatal(err)
		}
		got, err := LoadRecord(dir)
		if err != nil || got.Link.String() != link.String() {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
		got.Link = link
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for _, invalid := range []string{`{"seed": 1}`, `{"seed": true}`, `{"link": "magnet:?xt=urn:mob:b"}`} {
		if err := os.WriteFile(filepath.Join(dir, recordFile), []byte(invalid), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := LoadRecord(dir); err == nil {
			t.Errorf("loaded %+v from %s", r, invalid)
		}
	}
}
