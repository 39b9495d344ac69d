package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// PaperRun is the ratios of a run, for a comparison with the next run.
type PaperRun struct {
	Made *Made `json:"made"`
	// Ratios are by figure, group and series. Rows without a ratio are missing.
	Ratios map[string]float64 `json:"ratios"`
}

// runFile is the name of the file of a PaperRun, in the directory of the report.
const runFile = "run.json"

// agree bounds the quotient of the ratios of two runs that agree.
const agree = 1.1

// ReadPaperRun reads the run that was saved in a directory. It returns nil if there is none, or if it was made on another machine.
func ReadPaperRun(dir string) (*PaperRun, error) {
	text, err := os.ReadFile(filepath.Join(dir, runFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	run := &PaperRun{Made: new(Made)}
	if err == nil {
		err = json.Unmarshal(text, run)
	}
	if err != nil {
		return nil, fmt.Errorf("read the earlier run: %w", err)
	}
	if run.Made.Machine != NewMade().Machine {
		return nil, nil
	}
	return run, nil
}

// Save writes the ratios into a directory.
func (r *PaperReport) Save(dir string) error {
	text, err := json.MarshalIndent(PaperRun{NewMade(), r.ratios()}, "", "  ")
	return errors.Join(err, os.WriteFile(filepath.Join(dir, runFile), append(text, '\n'), 0o644))
}

func (r *PaperReport) ratios() map[string]float64 {
	all := map[string]float64{}
	for _, f := range r.figures() {
		for _, c := range f.Compared {
			if c.Here > 0 {
				all[fmt.Sprintf("%s: %s, %s", f.Name, c.Group, c.Series)] = c.Here
			}
		}
	}
	return all
}

// Repeated is the outcome of the comparison with the earlier run.
type Repeated struct {
	Rows, Agree int      // with a ratio in both runs
	Differ      []string // lines
}

// Repeated compares the ratios with the ratios of the earlier run. It returns nil without one.
func (r *PaperReport) Repeated() *Repeated {
	if r.Earlier == nil {
		return nil
	}
	all, now := new(Repeated), r.ratios()
	for _, row := range slices.Sorted(maps.Keys(now)) {
		was, is := r.Earlier.Ratios[row], now[row]
		if was == 0 {
			continue
		}
		all.Rows++
		if max(was, is) <= agree*min(was, is) {
			all.Agree++
		} else {
			all.Differ = append(all.Differ, fmt.Sprintf("%s: %.3g, and %.3g before", row, is, was))
		}
	}
	return all
}
