package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Recheck hashes the pieces of s for which check is true, and commits those that v
// finds good and forgets the others. It uses a goroutine for each CPU and calls
// found, if it is not nil, from them. It returns the first error,
// or that of ctx when it is cancelled; pieces that it did not come to stay as
// they were.
func Recheck(ctx context.Context, s Store, v *Verifier, check []bool, found func(piece int, good bool)) error {
	return inParallel(ctx, len(check), 0, func(piece int) error {
		if !check[piece] {
			return nil
		}
		good, err := v.check(s, piece, nil)
		if err != nil {
			return err
		}
		if good {
			err = s.Commit(piece)
		} else {
			err = s.Forget(piece)
		}
		if err == nil && found != nil {
			found(piece, good)
		}
		return err
	})
}

// inParallel calls do for 0 to n-1 from workers goroutines, in order, until one
// fails or ctx is cancelled, and returns the first error.
func inParallel(ctx context.Context, n, workers int, do func(int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
