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
// gap, that the legend has the paper only with its values, and that the same chart gives the same picture.
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
	own := chart{title: "share of the bound"}
	own.add("fast", "mob", bar{0.94, 0})
	own.add("slow", "mob", bar{0, 0.62}) // not run
	var unpublished bytes.Buffer
	if err := own.write(&unpublished); err != nil || strings.Contains(unpublished.String(), "the paper") {
		t.Errorf("%v, or the legend has the paper without a value of it", err)
	}
	if svg != draw() {
		t.Error("the same chart gives another picture")
	}
}
