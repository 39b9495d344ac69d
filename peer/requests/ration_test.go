package requests

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestRation wants requests given at a rate, all of them, and at once when it ends.
func TestRation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, rate = 1 << 10, 1 << 12 // four in a second
		q := NewQueue()
		log := slog.New(slog.DiscardHandler)
		var got []time.Duration
		start := time.Now()
		go func() {
			for _, _, ok := q.Next(); ok; _, _, ok = q.Next() {
				got = append(got, time.Since(start))
			}
			got = append(got, -1)
		}()
		q.Ration(rate, log)
		for i := range 20 {
			q.Add(proto.Span{Piece: uint32(i), Length: size})
		}
		time.Sleep(2*time.Second - 1)
		synctest.Wait()
		if len(got) != 8 || got[7] != 7*time.Second/4 {
			t.Errorf("in two seconds requests came after %v", got)
		}
		q.Ration(0, log)
		synctest.Wait()
		if len(got) != 20 || time.Since(start) > 2*time.Second {
			t.Errorf("%d of 20 requests have come, %v after the start", len(got), time.Since(start))
		}
		q.Ration(rate, log)
		q.Add(proto.Span{Length: size})
		q.Add(proto.Span{Length: size})
		synctest.Wait()
		q.Close() // while one waits for its turn
		synctest.Wait()
		if len(got) != 22 || got[21] != -1 {
			t.Errorf("after the end: %v", got)
		}
	})
}

// TestRationIsLoggedOnce wants the log to tell of the first ration and its end, and of others
// when debugging.
func TestRationIsLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	q := NewQueue()
	for range 5 {
		q.Ration(1, log)
		q.Ration(0, log)
	}
	for what, want := range map[string]int{"level=INFO": 2, "level=DEBUG": 8, "is rationed\" rate=1\n": 5, "rate=0": 0, "served like others again": 5} {
		if n := strings.Count(out.String(), what); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", what, n, want, &out)
		}
	}
}
