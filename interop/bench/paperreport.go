package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

const paperTemplate = `# mob and five papers

A row compares the ratio of two rates on this machine with the same ratio in a paper. It is not compared if the cores were more
than {{percent .Busy}} busy. Scaled cases run with rates and sizes divided by {{.Scale}}; they are not compared if the share of the bound or
the copies of the calibration differ from full speed by more than {{.Spread}}.

{{.Made}}

## Calibration

| Case | Of the bound | Copies | CPU | Load |
|---|---|---|---|---|
{{range .Calibration}}| {{.Name}} | {{number .Share "%.3f"}} | {{number .Copies "%.2f"}} | {{percent .CPU}} | {{.Load}} |
{{end}}
{{with .Repeated}}
## The run before

In {{.Agree}} of {{.Rows}} rows the ratio is within 10 % of the run of {{$.Earlier.Made}}
{{range .Differ}}
- {{.}}{{end}}
{{end}}
## What differs

Rows outside of their tolerances, and orders of the papers that do not hold here:

{{range .Figures}}{{$f := .}}{{range .Compared}}{{if .Differs -}}
- {{$f.Name}}: {{.Group}}, {{.Series}}: {{number .Here "%.3g"}}. {{.Outcome}}: {{or $f.Why "the reason is not known"}}.
{{end}}{{end}}{{end}}
{{- range .Figures}}
## {{.Name}}

![{{.Name}}]({{.Picture}})

The paper: {{.Source}}.{{with .Crossover}} Here mob is{{.}}.{{end}}

| Row | Paper | Here | Ratio | Outcome | Runs | CPU | Load |
|---|---|---|---|---|---|---|---|
{{range .Compared -}}
| {{.Group}}: {{.Series}} | {{number .Published "%.3g"}} | {{number .Here "%.3g"}} | {{number .Ratio "%.2f"}} | {{.Outcome}} | {{or .Runs "-"}} | {{percent .CPU}} | {{or .Load "-"}} |
{{end}}{{end}}`

// comparedFigure is a figure with the outcomes of its rows.
type comparedFigure struct {
	PaperFigure
	Compared []compared
}

// Picture is the name of the file of the picture.
func (f *comparedFigure) Picture() string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(f.Name) + ".svg"
}

// figures returns the figures with the outcomes of all rows.
func (r *PaperReport) figures() (all []*comparedFigure) {
	for _, f := range PaperFigures(r.Papers...) {
		c := &comparedFigure{PaperFigure: f}
		for _, row := range f.Rows {
			c.Compared = append(c.Compared, r.compare(&f, row))
		}
		all = append(all, c)
	}
	return all
}

// Write writes report.md and a picture of each figure into a directory.
func (r *PaperReport) Write(dir string) error {
	errs := []error{os.MkdirAll(dir, 0o755)}
	figures := r.figures()
	for _, f := range figures {
		errs = append(errs, f.draw(dir))
	}
	functions := template.FuncMap{"number": orNone, "percent": func(v float64) string { return orNone(100*v, "%.0f %%") }}
	var text strings.Builder
	errs = append(errs, template.Must(template.New("").Funcs(functions).Parse(paperTemplate)).Execute(&text, struct {
		*PaperReport
		Made         *Made
		Figures      []*comparedFigure
		Busy, Spread float64
	}{r, NewMade(), figures, mostCPU, calibrationSpread}))
	return errors.Join(append(errs, os.WriteFile(filepath.Join(dir, "report.md"), []byte(text.String()), 0o644))...)
}

// draw writes the picture.
func (f *comparedFigure) draw(dir string) error {
	c := chart{title: f.Name}
	for _, row := range f.Compared {
		c.add(row.Group, row.Series, bar{row.Here, row.Published})
	}
	var svg strings.Builder
	return errors.Join(c.write(&svg), os.WriteFile(filepath.Join(dir, f.Picture()), []byte(svg.String()), 0o644))
}

// Crossover describes the sizes of messages at which mob becomes faster. It is empty for all but messages.
func (f *comparedFigure) Crossover() string {
	if !strings.Contains(f.Name, messages) {
		return ""
	}
	var slower, faster, busy string
	for _, c := range f.Compared {
		switch {
		case c.Here == 0:
			continue
		case c.Here < 1:
			slower, faster = " slower up to "+c.Group, ""
		case faster == "":
			faster = " faster from " + c.Group + " on"
		}
		busy = pick(c.CPU > mostCPU, " (*CPU bound*)", busy)
	}
	return slower + pick(slower != "" && faster != "", " and", "") + faster + busy
}
