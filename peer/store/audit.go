package store

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Verdict is the result of an [Audit] for a piece.
type Verdict uint8

const (
	// Good pieces have the right hash.
	Good Verdict = iota
	// Damaged pieces have another, or a file of them is missing, too short or replaced.
	Damaged
	// Unreadable pieces cannot be read at present. Their bytes may be right.
	Unreadable
)

// Audit hashes stored pieces again and calls found with the verdict of each, and with the reason if it is
// [Unreadable]. It leaves the record of the store alone: found may call [Record]. It runs one goroutine per CPU, and
// they call found. If the store is in use, a verdict may be outdated. Audit returns the first error of found, or
// the cause of ctx.
func Audit(ctx context.Context, s Store, v *Verifier, pieces iter.Seq[int], found func(piece int, is Verdict, why error) error) error {
	all := slices.Collect(pieces)
	return InParallel(ctx, len(all), func(i int) error {
		good, err := v.Check(s, all[i])
		is := Damaged
		switch {
		case err != nil:
			is = Unreadable
		case good:
			is = Good
		}
		return found(all[i], is, err)
	})
}

// Pieces returns the indexes of the values that are true.
func Pieces(set []bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, set := range set {
			if set && !yield(i) {
				return
			}
		}
	}
}

// Record commits a piece of s that is good, and forgets one that is damaged. It returns the reason why a piece is
// unreadable if that is not an [*UnreadableError]. It reports false, and ignores the verdict, if the piece is missing
// and can be written to, or another goroutine has started to write to it.
func Record(s Store, piece int, is Verdict, why error) (current bool, err error) {
	d, onDisk := s.(*Disk)
	stored := s.Has(piece) || onDisk && d.unverified.has(piece)
	seed := onDisk && d.journal.Seed()
	var unreadable *UnreadableError
	switch {
	case onDisk && !stored && !seed:
		return false, nil
	case is == Unreadable && errors.As(why, &unreadable):
		return true, nil
	case is == Unreadable:
		return true, why
	case is == Good && onDisk && !seed && !s.Has(piece):
		return d.commit(piece, true)
	case is == Good:
		return true, s.Commit(piece)
	case onDisk && !stored:
		return true, nil
	}
	return true, s.Forget(piece)
}

// InParallel calls do with 0 to n-1, in order, from one goroutine per CPU. It stops when a call fails or ctx ends, and
// returns the first error.
func InParallel(ctx context.Context, n int, do func(int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
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
