package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestChart checks that a picture is well-formed XML with its texts, that a series that is missing in a group leaves a
// gap, and that the same chart gives the same picture.
func TestChart(t *testing.T) {
	draw := func() string {
		c := chart{title: "mob, figure 4"}
		c.add("fast", "mob / aria2", bar{1.75, 0})
		c.add("mayhem", "mob / balanced plan", bar{1.25, 1.48})
		var svg bytes.Buffer
		if err := c.write(&svg); err != nil {
			t.Fatal(err)
		}
		return svg.String()
	}
	svg := draw()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"mob, figure 4", "fast", "mayhem", "mob / aria2", "mob / balanced plan", "the paper", "1.75", "1.25"} {
		if !strings.Contains(svg, ">"+want+"<") {
			t.Errorf("no %q in the picture", want)
		}
	}
	if svg != draw() {
		t.Error("the same chart gives another picture")
	}
}
