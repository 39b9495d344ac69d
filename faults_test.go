package mob_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var runFaults = flag.Bool("faults", false, "run the tests of docs/faults.md")

// faultTable is where the rows are.
const faultTable = "docs/faults.md"

// faultRow is a row of the table: a case, and the tests that show what happens.
type faultRow struct {
	section, name string
	tests         []faultTest
}

// faultTest names a test or a subtest of a package.
type faultTest struct{ pkg, top, sub string }

func (f faultTest) String() string { return f.pkg + "." + f.name() }

// name is the test's name as `go test` prints it.
func (f faultTest) name() string {
	if f.sub == "" {
		return f.top
	}
	return f.top + "/" + f.sub
}

// faultTestName is such as `peer/store.TestDiskFull` or `cli.TestScripts/rm`.
var faultTestName = regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9_]+)(?:/([^`]+))?`")

// faultRows reads the table: rows of case, what must happen, tests, and what falls short.
func faultRows(t *testing.T) (rows []faultRow) {
	t.Helper()
	text, err := os.ReadFile(faultTable)
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Case") {
			continue
		}
		row := faultRow{section: section, name: strings.TrimSpace(cells[0])}
		if len(cells) != 4 {
			t.Errorf("%s: %d cells, want 4", row.name, len(cells))
			continue
		}
		for _, m := range faultTestName.FindAllStringSubmatch(cells[2], -1) {
			row.tests = append(row.tests, faultTest{m[1], m[2], m[3]})
		}
		if len(row.tests) == 0 {
			t.Errorf("%s: no test in %q", row.name, cells[2])
		}
		rows = append(rows, row)
	}
	return rows
}

// TestFaultTable checks that the tests exist that the table names.
func TestFaultTable(t *testing.T) {
	rows := faultRows(t)
	if len(rows) < 40 {
		t.Errorf("%d rows, want 40 or more", len(rows))
	}
	functions := map[string]map[string]bool{}
	for _, row := range rows {
		for _, f := range row.tests {
			if functions[f.pkg] == nil {
				functions[f.pkg] = testFunctions(t, f.pkg)
			}
			if !functions[f.pkg][f.top] {
				t.Errorf("%s: there is no %v", row.name, f)
			}
		}
	}
}

// testFunctions returns the names of the tests of a package.
func testFunctions(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := fs.Glob(os.DirFS("."), path.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// TestFaults runs the tests of the table and prints it with what came of each. It fails
// unless all pass; a test that is skipped here, for want of root for instance, is named.
func TestFaults(t *testing.T) {
	if !*runFaults {
		t.Skip("takes minutes: see make faults")
	}
	rows := faultRows(t)
	results := runFaultTests(t, rows)
	section, count := "", map[string]int{}
	for _, row := range rows {
		if row.section != section {
			section = row.section
			fmt.Printf("\n%s\n", section)
		}
		result := "pass"
		for _, f := range row.tests {
			if r := results[f]; r != "pass" {
				result = r
			}
		}
		if result == "" {
			result = "none"
		}
		count[result]++
		fmt.Printf("  %-4s  %s\n", result, row.name)
	}
	fmt.Printf("\n%d rows: %d pass, %d skipped here, %d fail, %d whose test did not run\n",
		len(rows), count["pass"], count["skip"], count["fail"], count["none"])
	if count["pass"]+count["skip"] < len(rows) {
		t.Fail()
	}
}

// runFaultTests runs the tests of all rows, one package at a time, and returns for each
// test whether it is pass, fail or skip.
func runFaultTests(t *testing.T, rows []faultRow) map[faultTest]string {
	t.Helper()
	patterns := map[string]map[string][]string{} // package, test, subtests
	for _, row := range rows {
		for _, f := range row.tests {
			if patterns[f.pkg] == nil {
				patterns[f.pkg] = map[string][]string{}
			}
			subs, known := patterns[f.pkg][f.top]
			switch {
			case f.sub == "":
				patterns[f.pkg][f.top] = []string{} // all of it
			case !known || len(subs) > 0:
				patterns[f.pkg][f.top] = append(subs, f.sub)
			}
		}
	}
	results := map[faultTest]string{}
	for _, pkg := range slices.Sorted(maps.Keys(patterns)) {
		var whole []string
		for _, top := range slices.Sorted(maps.Keys(patterns[pkg])) {
			if subs := patterns[pkg][top]; len(subs) > 0 {
				runFaultTest(t, results, pkg, "^"+top+"$/^("+strings.Join(quoteAll(subs), "|")+")$")
			} else {
				whole = append(whole, top)
			}
		}
		if len(whole) > 0 {
			runFaultTest(t, results, pkg, "^("+strings.Join(whole, "|")+")$")
		}
	}
	return results
}

func quoteAll(names []string) []string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^"))
	}
	return quoted
}

// runFaultTest runs the tests of a package that match a pattern. It prints what a test
// printed that fails.
func runFaultTest(t *testing.T, results map[faultTest]string, pkg, pattern string) {
	t.Helper()
	start := time.Now()
	cmd := exec.Command("go", "test", "-json", "-count=1", "-timeout=20m", "-run", pattern, "./"+pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	output := map[string]*strings.Builder{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if output[e.Test] == nil {
			output[e.Test] = &strings.Builder{}
		}
		output[e.Test].WriteString(e.Output)
		switch e.Action {
		case "pass", "fail", "skip":
			top, sub, _ := strings.Cut(e.Test, "/")
			results[faultTest{pkg, top, sub}] = e.Action
			if e.Action == "fail" {
				fmt.Print(output[e.Test])
			}
		}
	}
	fmt.Printf("%s %s: %.0f s\n", pkg, pattern, time.Since(start).Seconds())
}
