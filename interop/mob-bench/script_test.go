package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/netns"
)

// TestMain lets the test binary be mob, mobd and mob-bench: scripts run it by these names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mob":       func() { os.Exit(cli.Mob(command.Process())) },
		"mobd":      func() { os.Exit(cli.Mobd(command.Process())) },
		"mob-bench": main,
	})
}

// TestScripts runs testdata/*.txt. These have the commands of package testscript, and:
//
//	status N PROGRAM ARG...             runs a program and checks its exit status
//	call N ARG...                       runs mob-bench in this process, for commands that fail before
//	                                    they start anything; paths must be absolute
//	interrupt TEXT N PROGRAM ARG...     runs a program, sends it SIGINT once it has printed a line with TEXT
//	                                    on standard error, and checks its exit status
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Condition: func(cond string) (bool, error) {
			if cond == "grid" {
				return netns.Available() == nil, nil
			}
			return false, errors.New("unknown condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				checkStatus(ts, args[0], ts.Exec(args[1], args[2:]...))
			},
			"call": func(ts *testscript.TestScript, _ bool, args []string) {
				env := &command.Env{Args: args[1:], Out: ts.Stdout(), Err: ts.Stderr(), Getenv: ts.Getenv}
				if got := strconv.Itoa(env.Run(newRoot(env))); got != args[0] {
					ts.Fatalf("exit status %s, want %s", got, args[0])
				}
			},
			"interrupt": interrupt,
		},
	})
}

func checkStatus(ts *testscript.TestScript, want string, err error) {
	got := 0
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		got = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
}

func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	path := ""
	for _, dir := range strings.Split(ts.Getenv("PATH"), ":") {
		if _, err := os.Stat(dir + "/" + args[2]); err == nil && path == "" {
			path = dir + "/" + args[2]
		}
	}
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"PATH=" + ts.Getenv("PATH"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	errs, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines := bufio.NewScanner(errs)
	for lines.Scan() && !strings.Contains(lines.Text(), args[0]) {
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_, _ = io.Copy(io.Discard, errs)
	checkStatus(ts, args[1], cmd.Wait())
}

func TestHelpHasExamples(t *testing.T) {
	root := newRoot(&command.Env{Getenv: func(string) string { return "" }})
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		if cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: no help or no example", cmd.CommandPath())
		}
	}
}
