package quota

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

func fill(q *Quota[string], k string) (n int) {
	for q.Take(k) {
		n++
	}
	return n
}

// One alone gets half, the next as many as are free then, and there is always room for one
// who has none.
func TestTake(t *testing.T) {
	q := New[string](1000)
	if n := fill(q, "a"); n != 500 {
		t.Errorf("one alone holds %d of 1000", n)
	}
	if n := fill(q, "b"); n != 250 {
		t.Errorf("the second holds %d of 500", n)
	}
	q.Release("a")
	if q.Take("a") || !q.Take("b") {
		t.Error("what the first releases is not for the second")
	}
	if q.Used() != 750 {
		t.Errorf("%d slots are held", q.Used())
	}
}

// Those who take what they can get, again and again, end with equal shares.
func TestSharesBecomeEqual(t *testing.T) {
	q := New[int](1100)
	held := make([]int, 10)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		if k := rng.IntN(len(held)); held[k] > 0 { // slots come and go
			q.Release(k)
			held[k]--
		}
		k := rng.IntN(len(held))
		for q.Take(k) {
			held[k]++
		}
	}
	for k, n := range held {
		if n < 90 || n > 110 {
			t.Errorf("%d holds %d of 1100, want about 100", k, n)
		}
	}
	if !q.Take(10) {
		t.Error("there is no room for another")
	}
}

func TestHost(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1",
		"::ffff:192.0.2.1":     "192.0.2.1",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
		"2001:db8:1:2:ffff::1": "2001:db8:1:2::",
		"fe80::2:3:4:5%eth0":   "fe80::",
		"2001:db8:1:3::1":      "2001:db8:1:3::",
		"127.0.0.1":            "127.0.0.0",
		"127.9.8.7":            "127.0.0.0",
		"::ffff:127.9.8.7":     "127.0.0.0",
		"::1":                  "::",
	} {
		if got := Host(netip.MustParseAddr(from)); got != netip.MustParseAddr(want) {
			t.Errorf("%s counts for %s, want %s", from, got, want)
		}
	}
	if got := Host(netip.Addr{}); got.IsValid() {
		t.Errorf("no address counts for %s", got)
	}
}

func TestShared(t *testing.T) {
	q := NewShared[string](2)
	release, ok := q.Take("a")
	if _, again := q.Take("a"); !ok || again {
		t.Errorf("taken %v, and again %v", ok, again)
	}
	release()
	release()
	if _, ok := q.Take("a"); !ok {
		t.Error("the slot is not free")
	}
}
