package cast

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/peer/limit"
)

// TestMain runs the tests. The program is also copied to the hosts of a cast, and a caster
// that can be killed.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "agent":
		os.Exit(agent.Run(interrupted(), os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) > 1 && os.Args[1] == "caster":
		os.Exit(runCaster(interrupted()))
	}
	// Each agent would sleep for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	// Tests mostly wait, for timeouts and processes.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// interrupted returns a context that ends with a signal.
func interrupted() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // to the end
	return ctx
}

// testCast is a cast of a test: with a limit, in bytes per second, for what the caster sends. The limit ends when hold is closed.
type testCast struct {
	Config
	Rate limit.Rate
	hold <-chan struct{}
}

// heldRate is too low for any transfer of a test to complete. The first block passes without delay.
const heldRate = 16 << 10

func (t *testCast) run(ctx context.Context) (*Result, error) {
	c, err := newCaster(t.Config)
	if err != nil {
		return nil, err
	}
	c.node.SetLimits(limitOf(t.Rate))
	ended := make(chan struct{})
	var limited sync.WaitGroup
	limited.Go(func() {
		select {
		case <-t.hold:
			c.node.SetLimits(limit.Limits{})
		case <-ended:
		}
	})
	err = c.run(ctx)
	close(ended)
	limited.Wait()
	if closed := c.node.close(); err == nil {
		err = closed
	}
	return c.result(), err
}

// limitOf limits what the caster sends.
func limitOf(r limit.Rate) limit.Limits { return limit.Limits{WANUp: r, LANUp: r} }

// castDescription is the description for another process of a testCast.
type castDescription struct {
	Source, Dest, Exec, Data string
	Hosts                    []Host
	Shell                    []string
	Spool                    int64
	Rate                     limit.Rate
}

// runCaster runs the cast that $MOB_TEST_CAST describes. It prints a line for each host that changes its
// phase.
func runCaster(ctx context.Context) int {
	var d castDescription
	if err := json.Unmarshal([]byte(os.Getenv("MOB_TEST_CAST")), &d); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	t := testCast{Rate: d.Rate, Config: Config{
		Source: d.Source,
		Stdin:  os.Stdin,
		Hosts:  d.Hosts,
		Dest:   d.Dest,
		Exec:   d.Exec,
		Shell:  d.Shell,
		Spool:  d.Spool,
		Data:   d.Data,
	}}
	t.Event = func(e Event) {
		if e.Host != nil {
			fmt.Println(e.Host.Name, e.Host.Phase, e.Host.Bytes)
		}
	}
	r, err := t.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, h := range r.Hosts {
		fmt.Println(h.Name, h.Phase, h.Bytes, h.Error)
	}
	return 0
}
