package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

// chartReport is a report of five systems with a spread; one failed.
func chartReport() *Report {
	r := &Report{Case: "4x4 nodes, fast", Bytes: 240e6, Bound: 12e6, Ideal: 20, TCPShare: 0.956}
	for i, name := range []string{"mob", "aria2", "libtorrent", "transmission"} {
		for k := range 3 {
			rate := 10e6/float64(i+1) + 2e5*float64(k)
			run := &Run{Rate: rate, Last: 240e6 / rate, Finished: map[string]float64{"A1": 1, "B0": 240e6 / rate}}
			for at := 0.125; at < run.Last; at += 0.25 {
				run.Use = append(run.Use, Use{At: at, Share: rate / 12e6 * (1 - math.Exp(-at)) * (1 + 0.1*math.Sin(7*at))})
			}
			r.Add(name, run)
		}
	}
	r.Add("rtorrent", &Run{Error: "lost"})
	return r
}

// picture draws a report.
func picture(t *testing.T, r *Report) string {
	t.Helper()
	return drawn(t, r.WriteSVG)
}

// drawn draws a picture, which must be well-formed XML. The picture is kept in the directory
// $MOB_CHARTS, if that is set.
func drawn(t *testing.T, draw func(io.Writer) error) string {
	t.Helper()
	var svg bytes.Buffer
	if err := draw(&svg); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("MOB_CHARTS"); dir != "" {
		name := dir + "/" + strings.ReplaceAll(t.Name(), "/", "-") + ".svg"
		if err := os.WriteFile(name, svg.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(svg.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return svg.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSVG(t *testing.T) {
	svg := picture(t, chartReport())
	for _, want := range []string{
		">mob<", ">aria2<", ">libtorrent<", ">transmission<", ">rtorrent<", ">failed<", ">10.2<", ">the bound<",
		"4x4 nodes, fast, 240 MB", "throughput, MB/s",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if svg != picture(t, chartReport()) {
		t.Error("the same report gives another picture")
	}
	if svg := picture(t, racksReport()); !strings.Contains(svg, "2x(2x2) nodes, fast") {
		t.Error("a picture of racks without their case")
	}
}

func TestSVGWithoutBound(t *testing.T) {
	r := chartReport()
	r.Bound = 0
	if svg := picture(t, r); strings.Contains(svg, ">the bound<") {
		t.Error("a bound that is not known")
	}
	r.Results = r.Results[4:] // the one that failed
	picture(t, r)
}

// TestRoundsSVG checks that a strategy that is missing in a group leaves a gap.
func TestRoundsSVG(t *testing.T) {
	r := &RoundReport{Blocks: 20, Batches: 1, Cases: []*RoundCase{
		{Strategy: "coded", Nodes: 20, Limit: 25, Rounds: []int{24, 26}, Beyond: -0.4},
		{Strategy: "plain", Nodes: 20, Limit: 25, Rounds: []int{55, 61}, Beyond: 33},
		{Strategy: "plain", Nodes: 300, Limit: 29, Rounds: []int{80, 90}, Beyond: 56},
	}}
	svg := drawn(t, r.WriteSVG)
	for _, text := range []string{"coded", "plain", "20 nodes", "300 nodes", "-0.4", "33.0", "56.0"} {
		if !strings.Contains(svg, ">"+text+"<") {
			t.Errorf("no %q in the picture", text)
		}
	}
}
