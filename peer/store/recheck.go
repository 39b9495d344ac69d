package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Recheck hashes the pieces of s for which check is true. It commits those that v
// verifies and forgets the others. It runs one goroutine per CPU; they call found, if
// it is not nil, after each piece. It returns the first error, or that of ctx if it is
// cancelled; the pieces that are left stay as they are.
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

// inParallel calls do with 0 to n-1, in order, from workers goroutines, or one per CPU
// if workers is not positive. It stops when a call fails or ctx is cancelled, and
// returns the first error.
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
