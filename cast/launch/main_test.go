package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// The test program is also the program that is launched: on a host the script runs it.
func TestMain(m *testing.M) {
	if os.Getenv(dirVariable) != "" {
		os.Exit(runAgent())
	}
	// Tests mostly wait, for timeouts and processes.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// echo is the answer of the agent to a message.
type echo struct {
	Echo json.RawMessage `json:"echo"`
	Dir  string          `json:"dir"`
	Pid  int             `json:"pid"`
}

// runAgent says hello and answers messages, until its input ends, as mob-agent would.
func runAgent() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s, err := Serve(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mob:", err)
		return 1
	}
	defer s.Close()
	ended := make(chan int, 1)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, `"exit `):
				fmt.Fprintln(os.Stderr, "mob: told to exit")
				ended <- 7
			default:
				_ = WriteRecord(os.Stdout, echo{json.RawMessage(line), s.Dir, os.Getpid()})
			}
		}
		ended <- 0
	}()
	select {
	case status := <-ended:
		return status
	case <-ctx.Done():
		return 1
	}
}

// noNote ignores the phases of a host.
func noNote(string) {}

// found are the programs of the test program, which it is itself.
var found = sync.OnceValues(func() (*Programs, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return Find(path)
})

// present are the programs as they are to a caster whose hosts have its files.
func present(t testing.TB) *Programs {
	t.Helper()
	ps, err := found()
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// absent are the programs as they are to a caster whose hosts do not have its files.
func absent(t testing.TB) *Programs {
	t.Helper()
	ps := present(t)
	p := *ps.all[0]
	p.path = ""
	return &Programs{dir: ps.dir, all: []*program{&p}}
}
