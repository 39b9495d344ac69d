package term

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, func(string) string { return "" })
	p.Show(Text("too early"))
	p.next = time.Now()
	p.Show(Text("name\x1b[2J"))
	p.Show(Text("too soon"))
	p.Clear()
	p.Keep(Text("not a picture"))
	p.Note("done")
	if want := "name\uFFFD[2J\ndone\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
