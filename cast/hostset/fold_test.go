package hostset

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for hosts, want := range map[string]string{
		"":                                "",
		"gw":                              "gw",
		"gw gw":                           "gw",
		"n1":                              "n1",
		"n10 n9 n1 n2 n3":                 "n[1-3,9-10]",
		"node1-ipmi node2-ipmi":           "node[1-2]-ipmi",
		"n1 n2 gw":                        "gw,n[1-2]",
		"b2 b1 b0 b c a0 a":               "a,a0,b,b[0-2],c",
		"node001 node002 node003 node005": "node[001-003,005]",
		"node2 node01 node001":            "node[2,01,001]",
		"n8 n9 n10 n11":                   "n[8-11]",
		"n08 n09 n10 n11":                 "n[08-11]",
		"n9 n09 n10":                      "n[9,09-10]",
		"n098 n099 n100":                  "n[098-100]",
		"n99 n100":                        "n[99-100]",
		"n0 n00 n1 n01":                   "n[0-1,00-01]",
		"login1 login2 mgmt1 mgmt2":       "login[1-2],mgmt[1-2]",
		"clu-1-1 clu-1-2 clu-2-1 clu-2-2": "clu-[1-2]-[1-2]",
		"dc1n1 dc1n2 dc1n3 dc2n1":         "dc1n[1-3],dc2n1",
		"n1-ib0 n2-ib0 n3-ib0":            "n[1-3]-ib0",
		"10.0.0.9 10.0.0.10 10.0.1.9":     "10.0.0.[9-10],10.0.1.9",
		"n123456789012345678 n123456789012345679":         "n123456789012345678,n123456789012345679",
		"n99999999999999999 n99999999999999998 n10000000": "n[10000000,99999999999999998-99999999999999999]",
	} {
		if got := Fold(strings.Fields(hosts)); got != want {
			t.Errorf("%s: %s, want %s", hosts, got, want)
		}
	}
}

// TestFoldIsExact folds random names of many shapes and parses the result.
func TestFoldIsExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	shapes := []func() string{
		func() string { return fmt.Sprintf("n%d", rng.IntN(120)) },
		func() string { return fmt.Sprintf("n%0*d", 1+rng.IntN(4), rng.IntN(120)) },
		func() string { return fmt.Sprintf("r%dn%d", rng.IntN(4), rng.IntN(12)) },
		func() string { return fmt.Sprintf("%02d-%d.x%d", rng.IntN(3), rng.IntN(12), rng.IntN(3)) },
		func() string { return "gw" + strings.Repeat("x", rng.IntN(3)) },
		func() string { return fmt.Sprintf("h%d", 99999999999999990+rng.Uint64N(20)) },
	}
	for range 2000 {
		var hosts []string
		for range rng.IntN(60) {
			hosts = append(hosts, shapes[rng.IntN(len(shapes))]())
		}
		checkFold(t, hosts)
	}
}

// checkFold fails unless Parse of Fold of hosts has these, and is folded no further.
func checkFold(t *testing.T, hosts []string) {
	t.Helper()
	want := slices.Clone(hosts)
	slices.Sort(want)
	want = slices.Compact(want)
	folded := Fold(hosts)
	if len(want) == 0 {
		if folded != "" {
			t.Fatalf("nothing folds to %q", folded)
		}
		return
	}
	parsed, err := Parse(folded)
	if err != nil {
		t.Fatalf("%q: %v", folded, err)
	}
	if again := Fold(parsed); again != folded {
		t.Fatalf("%q folds to %q", folded, again)
	}
	got := slices.Clone(parsed)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%q folds to %q, which has %q", want, folded, got)
	}
}

func TestFoldOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var hosts []string
		for n := range 300 {
			if rng.IntN(3) > 0 {
				hosts = append(hosts, fmt.Sprintf("n%d", n))
			}
		}
		want := slices.Clone(hosts)
		rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		if got, err := Parse(Fold(hosts)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
}

func TestFoldProduct(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		want := fmt.Sprintf("r[1-%d]s[01-%02d]n[%d-%d,50]-ib[0-1]", 2+rng.IntN(4), 2+rng.IntN(12), 1+rng.IntN(3), 7+rng.IntN(9))
		hosts, err := Parse(want)
		if err != nil {
			t.Fatal(err)
		}
		rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		if got := Fold(hosts); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestTime checks that the time for many names is not quadratic: that would be hundreds of times the time of a map and a sort of
// the names. It is one to four times that, and the limit is 20. Times differ with the state of the heap and on a busy machine,
// so the shortest count.
func TestTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures for some seconds")
	}
	for _, text := range []string{"n[1-200000]", "n[000001-200000]-ib0", "r[1-1000]n[1-200]"} {
		took, unit := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for range 3 {
			began := time.Now()
			hosts, err := Parse(text)
			if err != nil || len(hosts) != 200_000 {
				t.Fatalf("%s: %d hosts, %v", text, len(hosts), err)
			}
			if got := Fold(hosts); got != text {
				t.Fatalf("%s, want %s", got, text)
			}
			took = min(took, time.Since(began))
			rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
			began = time.Now()
			in := map[string]int{}
			for i, host := range hosts {
				in[host] = i
			}
			slices.Sort(hosts)
			unit = min(unit, time.Since(began))
		}
		t.Logf("%s: %v, %.2f of a map and a sort", text, took, float64(took)/float64(unit))
		if took > 20*unit {
			t.Errorf("%s takes %v, a map and a sort of the names %v", text, took, unit)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"gw", "n[1-20,30],gw", "n[001-064]", "n[0-62/2]", "r[1-3]n[01-10]-ib0!r2n[05-07]", "a&a^b,c", "n[1,11][1,11]", "n[9-10", "@x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := parse(text, 2000)
		var e *SyntaxError
		if errors.As(err, &e) {
			if e.Pos < 0 || e.Pos > len(text) || e.Error() == "" {
				t.Fatalf("%q: position %d", text, e.Pos)
			}
			return
		}
		for _, host := range hosts {
			if host == "" || len(host) > maxName || host[0] == '-' {
				t.Fatalf("%q has the host %q", text, host)
			}
		}
		checkFold(t, hosts)
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("n[1-1000000]"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	hosts, err := Parse("n[1-1000000]")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Fold(hosts)
	}
}
