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

// chartReport is a report of five systems with a spread, of which one failed.
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
	return drawn(t, func(w io.Writer) error { return r.WriteSVG(w) })
}

// drawn draws a picture, which must be well-formed XML. The picture is kept in the folder
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
		">mob<", ">aria2<", ">libtorrent<", ">transmission<", ">rtorrent<", ">failed<", ">10.2 MB/s<",
		"4x4 nodes, fast, 240 MB", "share of the bound, 12 MB/s", ">seconds<",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if svg != picture(t, chartReport()) {
		t.Error("the same report gives another picture")
	}
}

func TestSVGOfRacks(t *testing.T) {
	svg := picture(t, racksReport())
	for _, want := range []string{">mob<", ">2.8 MB/s<", ">1.04/rack<", "2x(2x2) nodes, fast"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
}

func TestSVGWithoutLinks(t *testing.T) {
	r := chartReport()
	for _, res := range r.Results {
		for _, run := range res.Runs {
			run.Use = nil
		}
	}
	r.Bound = 0
	if svg := picture(t, r); !strings.Contains(svg, "share of the nodes that are whole") {
		t.Error("no other panel")
	}
	r.Results = r.Results[4:] // the one that failed
	picture(t, r)
}

// TestLineChart checks that every series and both axes are named.
func TestLineChart(t *testing.T) {
	l := lineChart{Title: "rounds", X: "nodes", Y: "beyond", Series: []series{
		{Name: "coded", Points: []point{{X: 20, Y: 2, Low: 2, High: 2}, {X: 300, Y: 3, Low: 2, High: 4}}},
		{Name: "plain", Points: []point{{X: 20, Y: 33, Low: 30, High: 36}, {X: 300, Y: 53, Low: 49, High: 61}}},
	}}
	svg := drawn(t, l.writeSVG)
	for _, text := range []string{"coded", "plain", "rounds", "nodes", "beyond"} {
		if !strings.Contains(svg, ">"+text+"<") {
			t.Errorf("no %q in the picture", text)
		}
	}
	l.Series = l.Series[:1]
	if one := drawn(t, l.writeSVG); len(one) >= len(svg) || strings.Contains(one, ">plain<") {
		t.Error("a series that is not there")
	}
}
