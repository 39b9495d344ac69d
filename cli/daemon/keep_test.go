package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
)

func TestKeepTable(t *testing.T) {
	for _, c := range []struct {
		table map[string]any
		want  peer.Keep
		err   string // part of it
	}{
		{map[string]any{"for": "30d"}, peer.Keep{For: 30 * 24 * time.Hour}, ""},
		{map[string]any{"for": "90m", "delete": true}, peer.Keep{For: 90 * time.Minute, Delete: true}, ""},
		{map[string]any{"disk": "500GB", "delete": true}, peer.Keep{Disk: 500e9, Delete: true}, ""},
		{map[string]any{"disk": "500GB"}, peer.Keep{}, "disk needs delete = true"},
		{map[string]any{"for": "0d"}, peer.Keep{}, `for: 0d: must be text such as "30d"`},
		{map[string]any{"for": "-3h"}, peer.Keep{}, "for: -3h: must be"},
		{map[string]any{"for": "30"}, peer.Keep{}, "for: 30: must be"},
		{map[string]any{"for": int64(30)}, peer.Keep{}, "for: 30: must be"},
		{map[string]any{"disk": "500", "delete": true}, peer.Keep{}, "disk: 500: must be"},
		{map[string]any{"disk": "-5GB", "delete": true}, peer.Keep{}, "disk: -5GB: must be"},
		{map[string]any{"disk": "0GB", "delete": true}, peer.Keep{}, "disk: 0GB: must be"},
		{map[string]any{"delete": "yes"}, peer.Keep{}, "delete: yes: must be true or false"},
		{map[string]any{"size": "5GB"}, peer.Keep{}, "size: no such key"},
	} {
		k, err := readKeep(c.table)
		if c.err == "" && (err != nil || k != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %+v, %v", c.table, k, err)
		}
	}
	if _, err := readKeep("30d"); err == nil {
		t.Error("text is accepted as a table")
	}
}
