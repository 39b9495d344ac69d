package bench

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Made is how the runs of a report were made.
type Made struct {
	// Commit is the commit of the working directory, with a plus sign if Go files differ from it.
	Commit string `json:"commit"`
	Date   string `json:"date"` // as 2026-11-26
	// Machine is the number of cores and the kernel, Load the mean number of running processes in the
	// minute before.
	Machine string `json:"machine"`
	Load    string `json:"load"`
	Command string `json:"command"`
}

// NewMade describes this machine now. What is not known is empty.
func NewMade() *Made {
	m := &Made{
		Commit:  git("rev-parse", "--short", "HEAD"),
		Date:    time.Now().UTC().Format(time.DateOnly),
		Machine: fmt.Sprintf("%d cores, Linux %s", runtime.NumCPU(), firstField("/proc/sys/kernel/osrelease")),
		Load:    firstField("/proc/loadavg"),
		Command: strings.Join(append([]string{"mob-bench"}, os.Args[1:]...), " "),
	}
	if git("status", "--porcelain", "--", "*.go") != "" {
		m.Commit += "+"
	}
	return m
}

// String returns the date, machine, commit and command of the results.
func (m *Made) String() string {
	return fmt.Sprintf("%s, %s%s: `%s`", m.Date, m.Machine, pick(m.Commit == "", "", ", commit "+m.Commit), m.Command)
}

// Current reports whether no code that is measured has changed since the commit.
func (m *Made) Current() bool {
	last := git("log", "-1", "--format=%H", "--", "*.go", ":!*_test.go", ":!interop", ":!mob/sim", ":!cli/web", ":!*test/*")
	return last != "" && exec.Command("git", "merge-base", "--is-ancestor", last, m.Commit).Run() == nil
}

// git returns the output of a git command, empty if it fails.
func git(args ...string) string {
	out, _ := exec.Command("git", args...).Output()
	return strings.TrimSpace(string(out))
}

func firstField(path string) string {
	text, _ := os.ReadFile(path)
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return first
}
