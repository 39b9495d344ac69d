package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mobgrid/mob/interop/netns"
)

// The test binary is mob and mobd as well: scripts run it under these names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mob":  func() { os.Exit(Mob(Process())) },
		"mobd": func() { os.Exit(Mobd(Process())) },
	})
}

// TestScripts runs testdata/*.txt. Beside the usual commands of such scripts
// there are these:
//
//	status N PROGRAM ARG...      runs, and fails unless it exits with N
//	start NAME PROGRAM ARG...    runs on, with output in NAME.out and NAME.err
//	await FILE REGEXP            waits until the file holds that
//	hangup NAME                  sends SIGHUP
//	end NAME SIGNAL N            signals, and fails unless that exits with N
//	last VARIABLE FILE           sets a variable to a file's last word
//	random FILE SIZE             makes a file of random bytes
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Values[running{}] = map[string]*exec.Cmd{}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root": // whom no mode keeps out
				return os.Geteuid() == 0, nil
			case "grid":
				return netns.Available() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": runStatus, "start": start, "await": await, "hangup": hangup, "end": end, "last": last, "random": random,
		},
	})
}

// running is the key of the programs that run on.
type running struct{}

// limit is how long anything in a script may take.
const limit = 20 * time.Second

func command(ts *testscript.TestScript, name string, arg []string) *exec.Cmd {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); exec.Command(path).Err == nil {
			cmd := exec.Command(path, arg...)
			cmd.Dir = ts.MkAbs(".")
			cmd.Env = []string{"GORACE=atexit_sleep_ms=0"} // or each program takes a second to end
			for _, v := range []string{"HOME", "PATH", "TMPDIR", "MOB_DATA", "MOB_CLUSTER", "GOCOVERDIR"} {
				cmd.Env = append(cmd.Env, v+"="+ts.Getenv(v))
			}
			return cmd
		}
	}
	ts.Fatalf("no %s in PATH", name)
	return nil
}

// exit is the status of a program that has ended.
func exit(ts *testscript.TestScript, err error) int {
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		ts.Fatalf("%v", err)
	}
	if err == nil {
		return 0
	}
	return failed.ExitCode()
}

func runStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG...")
	}
	cmd := command(ts, args[1], args[2:])
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if got := strconv.Itoa(exit(ts, cmd.Run())); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME PROGRAM ARG...")
	}
	cmd := command(ts, args[1], args[2:])
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
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if b, _ = os.ReadFile(ts.MkAbs(args[0])); re.Match(b) {
			return
		}
	}
	ts.Fatalf("%s never held %q, but:\n%s", args[0], args[1], b)
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
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "NONE": 0}
	cmd := ts.Value(running{}).(map[string]*exec.Cmd)[args[0]]
	_ = cmd.Process.Signal(signals[args[1]]) // it may have ended by itself
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer timer.Stop()
	if got := strconv.Itoa(exit(ts, cmd.Wait())); got != args[2] {
		log, _ := os.ReadFile(ts.MkAbs(args[0] + ".err"))
		ts.Fatalf("exit status %s, want %s:\n%s", got, args[2], log)
	}
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
