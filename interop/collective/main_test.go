package collective_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/interop/workers"
)

// worker is the environment variable with the configuration of a worker.
const worker = "MOB_COLLECTIVE_WORKER"

func TestMain(m *testing.M) { workers.Main(worker, new(workerConfig), m) }

// workerConfig is the configuration of a member.
type workerConfig struct {
	workers.Node
	Size int
}

// order is a line on a worker's standard input, and result the line that answers it.
type order struct {
	Op      string // a method of Comm
	Bytes   int    // of each value
	Merge   bool   // of a shuffle: whether its values merge to one
	Repeats int
}

type result struct {
	Addr   string
	Took   []time.Duration
	Bytes  int
	Error  string
	Failed time.Time
}

func (w *workerConfig) Run() error {
	n, stop, err := w.Start()
	if err != nil {
		return err
	}
	defer stop()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(result{Addr: n.Addrs()[0].String()}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, err := collective.Join(ctx, n, "grid", w.Size)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetLinks(ctx, workers.LinkRate); err != nil {
		return err
	}
	if err := out.Encode(result{}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		r, err := o.run(ctx, c)
		if err != nil {
			r.Error, r.Failed = err.Error(), time.Now()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// keepFirst is a merge of a shuffle whose values have equal keys.
func keepFirst(dst, _ []byte) ([]byte, error) { return dst, nil }

// concatenate is a merge of a shuffle whose values have nothing in common.
func concatenate(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

func (o *order) run(ctx context.Context, c *collective.Comm) (r result, err error) {
	for range o.Repeats {
		started := time.Now()
		var b []byte
		switch o.Op {
		case "AllReduce":
			b, err = c.AllReduce(ctx, make([]byte, o.Bytes), collective.SumFloat64)
		case "Reduce":
			b, err = c.Reduce(ctx, 0, make([]byte, o.Bytes), collective.SumFloat64)
		case "Shuffle":
			op := collective.Op{Merge: concatenate}
			if o.Merge {
				op.Merge = keepFirst
			}
			to := make([][]byte, c.Size())
			for i := range to {
				to[i] = make([]byte, o.Bytes)
			}
			b, err = c.Shuffle(ctx, to, op)
		case "Broadcast":
			var value []byte
			if c.Rank() == 0 {
				value = make([]byte, o.Bytes)
			}
			b, err = c.Broadcast(ctx, 0, value)
		case "Gather":
			_, err = c.Gather(ctx, 0, make([]byte, o.Bytes))
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", o.Op, err)
		}
		r.Took, r.Bytes = append(r.Took, time.Since(started)), len(b)
		if _, err := c.AllReduce(ctx, nil, collective.SumFloat64); err != nil { // all start together
			return r, err
		}
	}
	return r, nil
}
