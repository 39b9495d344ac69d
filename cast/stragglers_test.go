package cast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// streamModel is a stream of records of 1 MB, without a network: hosts take bytes at their rates, in MB/s, and the source reads up to
// lag MB more than the slowest host has.
type streamModel struct {
	source, lag int
	rates       []func(second float64) float64
	from        float64 // second in which the source starts
}

const always = 1000 // seconds

// at returns a constant rate.
func at(rate float64) func(float64) float64 { return func(float64) float64 { return rate } }

// run returns the times in seconds at which hosts were given up, with the host and the reason.
func (m streamModel) run(cfg Config, seconds float64) (dropped []string) {
	began := time.Unix(0, 0)
	s := stragglers{cfg: &cfg, began: began}
	hosts := make([]HostResult, len(m.rates))
	got := make([]float64, len(hosts))
	for i := range hosts {
		hosts[i].Phase = Fetching
	}
	const step = 0.25
	read := 0.0
	for now := step; now <= seconds; now += step {
		limit := 1e9
		for i := range hosts {
			if !hosts[i].settled() {
				limit = min(limit, got[i]+float64(m.lag))
			}
		}
		more := float64(m.source) * step
		if now < m.from {
			more = 0
		}
		held := read+more > limit
		read = max(read, min(read+more, limit))
		for i, rate := range m.rates {
			got[i] = min(read, got[i]+rate(now)*step)
			hosts[i].Held, hosts[i].Bytes = uint64(got[i]), int64(got[i]*1e6)
		}
		some, why := s.find(began.Add(time.Duration(now*1e9)), hosts, held, int64(read*1e6))
		for _, i := range some {
			hosts[i].Phase = Failed
			dropped = append(dropped, fmt.Sprintf("%.0f s: n%d %s", now, i+1, why))
		}
	}
	return dropped
}

// TestDropSlow checks which hosts are dropped of a stream of 20 MB/s, or of a source without a limit.
func TestDropSlow(t *testing.T) {
	t.Parallel()
	pause := func(from, to float64) func(float64) float64 {
		return func(second float64) float64 {
			if second >= from && second < to {
				return 0
			}
			return 100
		}
	}
	fast := at(100)
	for name, c := range map[string]struct {
		source int
		rates  []func(float64) float64
		min    int
		want   []string
	}{
		"none slow":               {20, []func(float64) float64{fast, fast, fast}, 0, nil},
		"one slow":                {20, []func(float64) float64{fast, at(1), fast, fast}, 0, []string{"22 s: n2 too slow: 319 MB behind for 5 s"}},
		"one of two":              {20, []func(float64) float64{fast, at(1)}, 0, []string{"22 s: n2"}},
		"stopped":                 {20, []func(float64) float64{fast, pause(10, always), fast}, 0, []string{"31 s: n2"}},
		"slow for 3 s":            {20, []func(float64) float64{fast, pause(10, 28), fast}, 0, nil},
		"slow for 3 s repeatedly": {20, []func(float64) float64{fast, func(s float64) float64 { return pause(0, 19)(float64(int(s) % 40)) }, fast}, 0, nil},
		"two slow":                {20, []func(float64) float64{fast, at(2), at(1), fast, fast}, 0, []string{"22 s: n3", "28 s: n2"}},
		"most slow":               {20, []func(float64) float64{fast, at(1), at(1.1), at(1), fast}, 0, nil},
		"half as fast":            {20, []func(float64) float64{fast, at(10), fast}, 0, nil},
		"fast source":             {1000, []func(float64) float64{fast, at(60), at(90), fast}, 0, nil},
		"fast source, one slow":   {1000, []func(float64) float64{fast, at(5), at(90), fast}, 0, []string{"6 s: n2"}},
		"last host":               {20, []func(float64) float64{at(1)}, 0, nil},
		"at Min":                  {20, []func(float64) float64{fast, at(1), fast}, 3, nil},
		"above Min":               {20, []func(float64) float64{fast, at(1), at(1.5), fast, fast}, 4, []string{"22 s: n2"}},
	} {
		got := streamModel{source: c.source, lag: 320, rates: c.rates}.run(Config{DropSlow: 5 * time.Second, Min: c.min, Grace: -1}, 100)
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	burst := streamModel{source: 10_000, lag: 320, from: 7, rates: []func(float64) float64{at(10_000), at(0), at(10_000)}}
	if got := burst.run(Config{DropSlow: 5 * time.Second}, 100); len(got) != 1 || !strings.HasPrefix(got[0], "12 s: n2 ") {
		t.Errorf("a spool that fills up between two looks: %q", got)
	}
	for drop, want := range map[time.Duration]string{time.Second: "18 s: n2 ", time.Minute: "77 s: n2 "} {
		m := streamModel{source: 20, lag: 320, rates: []func(float64) float64{fast, at(1), fast}}
		if got := m.run(Config{DropSlow: drop}, 100); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("DropSlow %v: %q, want %q", drop, got, want)
		}
	}
}

// TestStragglers checks when Deadline and Grace end hosts that are not done.
func TestStragglers(t *testing.T) {
	t.Parallel()
	at := []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second, time.Hour}
	for name, c := range map[string]struct {
		cfg  Config
		done int           // hosts
		end  time.Duration // of the cast
		why  string
	}{
		"neither":            {Config{Min: 2, Grace: -1}, 4, time.Hour, ""},
		"deadline":           {Config{Deadline: 2 * time.Minute}, 3, 2 * time.Minute, "deadline of 2m0s"},
		"deadline after Min": {Config{Deadline: 25 * time.Second, Min: 2, Grace: -1}, 2, 25 * time.Second, "deadline of 25s"},
		"no grace":           {Config{Min: 2}, 2, 20 * time.Second, "grace of 0s"},
		"grace":              {Config{Min: 2, Grace: 5 * time.Second}, 2, 25 * time.Second, "grace of 5s"},
		"long grace":         {Config{Min: 2, Grace: time.Minute}, 3, 80 * time.Second, "grace of 1m0s"},
		"deadline in grace":  {Config{Min: 2, Grace: time.Minute, Deadline: 40 * time.Second}, 3, 40 * time.Second, "deadline of 40s"},
		"Min not reached":    {Config{Min: 4, Grace: 0}, 4, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for i := range at {
					c.cfg.Hosts = append(c.cfg.Hosts, Host{fmt.Sprint("n", i), "a"})
				}
				cast := stallCast(c.cfg, 1000, 1000)
				for i, d := range at {
					time.AfterFunc(d, func() { cast.hosts[i].settle(Done, "", 0) })
					go cast.report(t.Context(), i, time.Hour, func(second int) int64 { return int64(second) })
				}
				if err := cast.wait(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(cast.began); took < c.end || took > c.end+2*lookEvery {
					t.Errorf("it took %v, want %v", took, c.end)
				}
				for i, r := range cast.result().Hosts {
					if i < c.done && r.Phase != Done || i >= c.done && (r.Phase != Failed || r.Error != c.why) {
						t.Errorf("host %d is %s: %q", i, r.Phase, r.Error)
					}
				}
			})
		})
	}
}
