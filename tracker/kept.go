package tracker

import (
	"sync"
	"time"
)

// keptFor is the age at which a kept reply is made again.
const keptFor = time.Second

// kept is a reply to all requests within keptFor. It is made outside of the server's lock, from a copy of the table.
type kept[T any] struct {
	at    time.Time
	reply func() T // the same result at each call
}

func keep[T any](now time.Time, f func() T) kept[T] { return kept[T]{now, sync.OnceValue(f)} }

func (k kept[T]) fresh(now time.Time) bool { return k.reply != nil && now.Sub(k.at) < keptFor }
