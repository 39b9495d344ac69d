package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/netns"
)

// TestMain lets the test binary be mob and mobd: scripts run it by these names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mob":  func() { os.Exit(Mob(command.Process())) },
		"mobd": func() { os.Exit(Mobd(command.Process())) },
	})
}

// TestScripts runs testdata/*.txt. These have the commands of package testscript,
// and:
//
//	status N PROGRAM ARG...      runs a program and checks its exit status
//	call N mob|mobd ARG...       the same in this process, for commands that fail before
//	                             they start anything; paths must be absolute
//	until REGEXP PROGRAM ARG...  runs a program again and again, until its output matches:
//	                             for reports that take a moment
//	start NAME PROGRAM ARG...    starts a program, with output in NAME.out and NAME.err
//	await FILE REGEXP            waits until the file matches
//	hangup NAME                  sends SIGHUP to a program
//	end NAME SIGNAL N            signals a program and checks its exit status
//	last VARIABLE FILE           sets a variable to the last word of a file
//	forge N LINKFILE             announces N complete nodes that do not exist
//	random FILE SIZE             makes a file of random bytes
//	hole FILE SIZE               makes a file that is a hole
func TestScripts(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup; then programs inherit it, and continue
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(hangups) })
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Values[running{}] = map[string]*exec.Cmd{}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root": // ignores the modes of files
				return os.Geteuid() == 0, nil
			case "grid":
				return netns.Available() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": checkStatus,
			"until":  until,
			"call":   call,
			"start":  start,
			"await":  await,
			"hangup": hangup,
			"end":    end,
			"last":   last,
			"forge":  forge,
			"random": random,
			"hole":   hole,
		},
	})
}

// running is the key of the started programs.
type running struct{}

// scriptTimeout bounds each wait of a script.
const scriptTimeout = 2 * time.Minute

func program(ts *testscript.TestScript, name string, arg []string) *exec.Cmd {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			cmd := exec.Command(path, arg...)
			cmd.Dir = ts.MkAbs(".")
			cmd.Env = []string{"GORACE=atexit_sleep_ms=0"} // otherwise each program takes a second to exit
			for _, v := range []string{"HOME", "PATH", "TMPDIR", "MOB_DATA", "MOB_CLUSTER", "GOCOVERDIR"} {
				cmd.Env = append(cmd.Env, v+"="+ts.Getenv(v))
			}
			return cmd
		}
	}
	ts.Fatalf("no %s in PATH", name)
	return nil
}

// exitStatus returns the exit status of a program by the result of Wait.
func exitStatus(ts *testscript.TestScript, err error) int {
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		ts.Fatalf("%v", err)
	}
	if err == nil {
		return 0
	}
	return failed.ExitCode()
}

func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG...")
	}
	cmd := program(ts, args[1], args[2:])
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if got := strconv.Itoa(exitStatus(ts, cmd.Run())); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM ARG...")
	}
	re := regexp.MustCompile("(?m)" + args[0])
	for end := time.Now().Add(scriptTimeout); ; time.Sleep(20 * time.Millisecond) {
		out, err := program(ts, args[1], args[2:]).CombinedOutput()
		if re.Match(out) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("does not match %q after %v (%v):\n%s", args[0], scriptTimeout, err, out)
		}
	}
}

func call(ts *testscript.TestScript, neg bool, args []string) {
	commands := map[string]func(*command.Env) int{"mob": Mob, "mobd": Mobd}
	if neg || len(args) < 2 || commands[args[1]] == nil {
		ts.Fatalf("usage: call N mob|mobd ARG...")
	}
	env := &command.Env{Args: args[2:], Out: ts.Stdout(), Err: ts.Stderr(), Getenv: ts.Getenv}
	if got := strconv.Itoa(commands[args[1]](env)); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME PROGRAM ARG...")
	}
	cmd := program(ts, args[1], args[2:])
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	defer out.Close()
	log, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = out, log
	ts.Check(cmd.Start())
	ts.Value(running{}).(map[string]*exec.Cmd)[args[0]] = cmd
	ts.Defer(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	re := regexp.MustCompile(args[1])
	var b []byte
	for until := time.Now().Add(scriptTimeout); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		b, _ = os.ReadFile(ts.MkAbs(args[0]))
		if re.Match(b) {
			return
		}
	}
	ts.Fatalf("%s does not match %q after %v:\n%s", args[0], args[1], scriptTimeout, b)
}

func hangup(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hangup NAME")
	}
	ts.Check(ts.Value(running{}).(map[string]*exec.Cmd)[args[0]].Process.Signal(syscall.SIGHUP))
}

func end(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: end NAME SIGNAL N")
	}
	signals := map[string]syscall.Signal{
		"INT":  syscall.SIGINT,
		"TERM": syscall.SIGTERM,
		"KILL": syscall.SIGKILL,
		"NONE": 0,
	}
	cmd := ts.Value(running{}).(map[string]*exec.Cmd)[args[0]]
	_ = cmd.Process.Signal(signals[args[1]]) // the program may have ended by itself
	timer := time.AfterFunc(scriptTimeout, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	got := strconv.Itoa(exitStatus(ts, cmd.Wait()))
	ended := timer.Stop()
	if ended && got == args[2] {
		return
	}
	log, _ := os.ReadFile(ts.MkAbs(args[0] + ".err"))
	if !ended {
		ts.Fatalf("%s: %s still runs %v after %s; its goroutines:\n%s", ts.Name(), cmd, scriptTimeout, args[1], log)
	}
	ts.Fatalf("exit status %s, want %s:\n%s", got, args[2], log)
}

func last(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: last VARIABLE FILE")
	}
	words := strings.Fields(ts.ReadFile(args[1]))
	if len(words) == 0 {
		ts.Fatalf("%s is empty", args[1])
	}
	ts.Setenv(args[0], words[len(words)-1])
}

func random(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: random FILE SIZE")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = io.CopyN(f, rand.Reader, n)
	ts.Check(errors.Join(err, f.Close()))
}

func hole(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hole FILE SIZE")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	ts.Check(os.Truncate(path, n))
}
