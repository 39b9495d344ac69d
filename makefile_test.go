package mob_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestUnracedTests checks that the tests exist that make grid runs because make race skips them.
func TestUnracedTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^UNRACED := (.*)$`).FindSubmatch(text)
	run := regexp.MustCompile(`\(UNRACED\)\)\$\$' (.*) \|\|`).FindSubmatch(text)
	if list == nil || run == nil {
		t.Fatal("the Makefile has no list of tests, or does not run it")
	}
	tests := map[string]bool{}
	for _, pkg := range strings.Fields(string(run[1])) {
		for name := range testFunctions(t, strings.TrimPrefix(pkg, "./")) {
			tests[name] = true
		}
	}
	for _, name := range strings.Split(string(list[1]), "|") {
		if !tests[name] {
			t.Errorf("there is no %s in %s", name, run[1])
		}
	}
}
