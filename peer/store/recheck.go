package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Verdict is what a [Recheck] found of a piece.
type Verdict uint8

const (
	// Good pieces are verified.
	Good Verdict = iota
	// Damaged pieces are missing now.
	Damaged
	// Unreadable pieces are what they were: see [UnreadableError].
	Unreadable
)

// Recheck hashes the pieces of s for which check is true and that are verified or
// doubtful, and for a seed the missing ones. It commits the good ones, forgets the damaged ones, and leaves those as they
// are that cannot be read at present. It runs one goroutine per CPU; they call found, if it
// is not nil, with each piece. The store may be in use meanwhile.
//
// It returns the first error of the store, or that of ctx if it is cancelled, and leaves
// the rest as it is. If pieces could not be read, it goes on, and returns in the end how
// many they are, in an error that wraps the first [*UnreadableError].
func Recheck(ctx context.Context, s Store, v *Verifier, check []bool, found func(piece int, v Verdict)) error {
	var unreadable atomic.Int64
	var first atomic.Pointer[UnreadableError]
	err := InParallel(ctx, len(check), 0, func(piece int) error {
		if !check[piece] {
			return nil
		}
		verdict, checked, err := recheck(s, v, piece)
		var why *UnreadableError
		if errors.As(err, &why) {
			unreadable.Add(1)
			first.CompareAndSwap(nil, why)
			verdict, err = Unreadable, nil
		}
		if checked && err == nil && found != nil {
			found(piece, verdict)
		}
		return err
	})
	if n := unreadable.Load(); n > 0 && err == nil {
		err = fmt.Errorf("%d pieces were not checked: %w", n, first.Load())
	}
	return err
}

// recheck hashes a piece, and commits or forgets it. It reports false if there was nothing
// to check, or somebody else has written to the piece meanwhile.
func recheck(s Store, v *Verifier, piece int) (verdict Verdict, checked bool, err error) {
	verified := s.Has(piece)
	d, onDisk := s.(*Disk)
	seed := onDisk && d.journal.Seed()
	if onDisk && !seed && !verified && !d.doubtful.has(piece) {
		return Good, false, nil
	}
	good, err := v.Check(s, piece)
	switch {
	case err != nil:
		return Unreadable, true, err
	case good && onDisk && !seed && !verified:
		checked, err := d.commit(piece, true)
		return Good, checked, err
	case good:
		return Good, true, s.Commit(piece)
	case onDisk && !verified && !d.doubtful.has(piece):
		return Damaged, seed, nil
	}
	return Damaged, true, s.Forget(piece)
}

// InParallel calls do with 0 to n-1, in order, from workers goroutines, or one per CPU
// if workers is not positive. It stops when a call fails or ctx is cancelled, and
// returns the first error.
func InParallel(ctx context.Context, n, workers int, do func(int) error) error {
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
