package casting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/proto"
)

// castTo runs `mob cast` with a cast in which some hosts fail. fails has the reason of each by name.
func castTo(t *testing.T, fails map[string]string, arg ...string) (status int, out, errs string) {
	t.Helper()
	run := func(_ context.Context, cfg cast.Config) (*cast.Result, error) {
		res := &cast.Result{Length: 1000, Took: 2 * time.Second}
		for i, h := range cfg.Hosts {
			exit := 0
			r := cast.HostResult{Host: h, Phase: cast.Done, Moved: time.Now(), Took: time.Second, Exit: &exit, Progress: cast.Progress{Bytes: 1000, WAN: 100, LAN: 900}}
			if proto.ClusterParts(h.Cluster) > 1 {
				r.Rack = 600
			}
			if why := fails[h.Name]; why != "" {
				r = cast.HostResult{Host: h, Phase: cast.Failed, Took: time.Second, Error: why}
			}
			res.Hosts = append(res.Hosts, r)
			cfg.Event(cast.Event{Index: i, Host: &r})
			line := "hello\x1b from " + h.Name
			cfg.Event(cast.Event{Index: i, Output: &line})
		}
		return res, nil
	}
	return castWith(t.Context(), run, arg...)
}

// castWith runs `mob cast` with a runner.
func castWith(ctx context.Context, run runner, arg ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	env := &command.Env{In: strings.NewReader(""), Out: &o, Err: &e, Getenv: func(string) string { return "" }}
	root := newCast(&command.App{Env: env, LogLevel: "off"}, run)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetArgs(append([]string{"--rsh", os.Args[0]}, arg...))
	err := root.ExecuteContext(ctx)
	status, text := command.Outcome("mob cast", err, ctx.Err() != nil)
	return status, o.String(), e.String() + text
}

// castSource makes a file to cast.
func castSource(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "big.tar")
	if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCastReport(t *testing.T) {
	t.Parallel()
	src := castSource(t)
	fails := map[string]string{
		"n4": "ssh: connection timed out", "n9": "ssh: connection timed out", "n17": "ssh: connection timed out", "n5": "no space left",
	}
	status, out, errs := castTo(t, fails, src, "--hosts", "n[1-20]")
	want := "n1: hello� from n1\n"
	if !strings.HasPrefix(out, want) {
		t.Errorf("%s, want %s first", out, want)
	}
	want = src + ": 1.0 kB to 16 of 20 hosts in 2.0s, 8.0 kB/s in total; 1.6 kB from WAN, 14 kB from LAN\n" +
		"3 failed: n[4,9,17] ssh: connection timed out\n1 failed: n5 no space left\n"
	if !strings.HasSuffix(out, want) {
		t.Errorf("%s, want %s last", out, want)
	}
	if status != command.ExitFailed || errs != "16 of 20 hosts have the content" {
		t.Errorf("status %d, %s", status, errs)
	}
	status, out, errs = castTo(t, nil, src, "--hosts", "n[1-20]")
	if status != command.ExitDone || errs != "" || !strings.HasSuffix(out, "20 of 20 hosts in 2.0s, 10 kB/s in total; 2.0 kB from WAN, 18 kB from LAN\n") {
		t.Errorf("status %d, %s, %s", status, out, errs)
	}
}

func TestCastClusters(t *testing.T) {
	t.Parallel()
	_, out, _ := castTo(t, map[string]string{"t1": "x"}, castSource(t), "--hosts", "lyon=n[1-12]", "--hosts", "tokyo=t[1-2]")
	want := "\n  lyon             12 of 12 hosts, 1.2 kB from WAN (1.20 copies), 11 kB from LAN\n" +
		"  tokyo            1 of 2 hosts, 100 B from WAN (0.10 copies), 900 B from LAN\n1 failed: t1 x\n"
	if !strings.HasSuffix(out, want) {
		t.Errorf("%s, want %s last", out, want)
	}
}

func TestCastRacks(t *testing.T) {
	t.Parallel()
	_, out, _ := castTo(t, nil, castSource(t), "--hosts", "lyon/r1=n[1-12]", "--hosts", "lyon/r2=m[1-2]", "--hosts", "tokyo=t[1-2]",
		"-o", "/srv/%c/x")
	want := "\n  lyon             14 of 14 hosts, 1.4 kB from WAN (1.40 copies), 13 kB from LAN\n" +
		"    lyon/r1        12 of 12 hosts, 4.8 kB from other clusters (4.80 copies), 7.2 kB from within\n" +
		"    lyon/r2        2 of 2 hosts, 800 B from other clusters (0.80 copies), 1.2 kB from within\n" +
		"  tokyo            2 of 2 hosts, 200 B from WAN (0.20 copies), 1.8 kB from LAN\n"
	if !strings.HasSuffix(out, want) {
		t.Errorf("%s, want %s last", out, want)
	}
}

func TestCastMin(t *testing.T) {
	t.Parallel()
	src := castSource(t)
	for least, want := range map[string]int{"80%": command.ExitDone, "80.1%": command.ExitFailed, "100%": command.ExitFailed, "4": command.ExitDone, "5": command.ExitFailed, "1": command.ExitDone, "0.1%": command.ExitDone} {
		if status, _, errs := castTo(t, map[string]string{"n3": "x"}, src, "--hosts", "n[1-5]", "--min", least); status != want {
			t.Errorf("--min %s: status %d, %s", least, status, errs)
		}
	}
}

func TestCastJSON(t *testing.T) {
	t.Parallel()
	src := castSource(t)
	status, out, errs := castTo(t, map[string]string{"n2": "gone"}, src, "--hosts", "lyon=n[1-2]", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if status != command.ExitFailed || r.Source != src || r.Bytes != 1000 || r.Seconds != 2 || r.Done != 1 || r.Failed != 1 || r.FromLAN != 900 {
		t.Errorf("status %d: %s", status, out)
	}
	if h := r.Hosts[0]; h.Host != "n1" || h.Cluster != "lyon" || h.Phase != "done" || h.Bytes != 1000 || h.FromWAN != 100 || h.Seconds != 1 || *h.Exit != 0 {
		t.Errorf("%+v", h)
	}
	if h := r.Hosts[1]; h.Phase != "failed" || h.Error != "gone" || h.Exit != nil {
		t.Errorf("%+v", h)
	}
	if !strings.Contains(errs, "n1: hello") {
		t.Errorf("standard error has no output of commands: %s", errs)
	}
}

// TestCastRetry casts to the hosts that failed, with their clusters.
func TestCastRetry(t *testing.T) {
	t.Parallel()
	src, good, bad := castSource(t), filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "bad")
	fails := map[string]string{"n2": "x", "n3": "y", "t7": "x", "gw": "x"}
	status, _, errs := castTo(t, fails, src, "--hosts", "lyon=n[1-4]", "--hosts", "tokyo=t[5-7]", "--hosts", "gw,login", "--good", good, "--bad", bad)
	if status != command.ExitFailed {
		t.Fatalf("status %d, %s", status, errs)
	}
	for file, want := range map[string]string{good: "n[1,4] lyon\nt[5-6] tokyo\nlogin\n", bad: "n[2-3] lyon\nt7 tokyo\ngw\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v, want %q", file, got, err, want)
		}
	}
	delete(fails, "n2")
	status, out, errs := castTo(t, fails, src, "--retry", bad, "--bad", bad, "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != command.ExitFailed {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	var got []string
	for _, h := range r.Hosts {
		got = append(got, h.Cluster+"="+h.Host)
	}
	if want := "lyon=n2 lyon=n3 tokyo=t7 default=gw"; strings.Join(got, " ") != want {
		t.Errorf("cast to %v, want %s", got, want)
	}
	if b, err := os.ReadFile(bad); err != nil || string(b) != "n3 lyon\nt7 tokyo\ngw\n" {
		t.Errorf("%q, %v are left", b, err)
	}
}

// TestCastInterrupted writes the report of a cast that was cut short, too.
func TestCastInterrupted(t *testing.T) {
	t.Parallel()
	src, bad := castSource(t), filepath.Join(t.TempDir(), "bad")
	ctx, cancel := context.WithCancel(t.Context())
	run := func(ctx context.Context, cfg cast.Config) (*cast.Result, error) {
		cancel()
		<-ctx.Done()
		return &cast.Result{Length: 1000, Hosts: []cast.HostResult{
			{Host: cfg.Hosts[0], Phase: cast.Done},
			{Host: cfg.Hosts[1], Phase: cast.Fetching, Moved: time.Now().Add(-75 * time.Second), Progress: cast.Progress{Bytes: 500, Overwriting: true, Waiting: "peers"}},
			{Host: cfg.Hosts[2], Phase: cast.Failed, Error: "x"},
		}}, ctx.Err()
	}
	status, out, errs := castWith(ctx, run, src, "--hosts", "n[1-3]", "--bad", bad, "--min", "1", "-q")
	if status != command.ExitInterrupted || errs != "interrupted: 1 of 3 hosts have the content" {
		t.Errorf("status %d, %s", status, errs)
	}
	want := "1 fetching: n2 what was at DEST is partly overwritten\n" +
		"  slowest: n2, 50%, no progress for 1m15s, waiting for peers\n1 failed: n3 x\n"
	if !strings.HasSuffix(out, want) {
		t.Errorf("%s, want %s", out, want)
	}
	if b, err := os.ReadFile(bad); err != nil || string(b) != "n[2-3]\n" {
		t.Errorf("%q, %v are bad", b, err)
	}
}

func TestCastOverwritten(t *testing.T) {
	t.Parallel()
	run := func(_ context.Context, cfg cast.Config) (*cast.Result, error) {
		return &cast.Result{Length: 1000, Hosts: []cast.HostResult{
			{Host: cfg.Hosts[0], Phase: cast.Failed, Error: "silent for 30 s", Progress: cast.Progress{Overwriting: true}},
			{Host: cfg.Hosts[1], Phase: cast.Failed, Error: "silent for 30 s"},
		}}, nil
	}
	src := castSource(t)
	_, out, _ := castWith(t.Context(), run, src, "--hosts", "n[1-2]", "-f")
	want := "1 failed: n1 silent for 30 s; what was at DEST is partly overwritten\n1 failed: n2 silent for 30 s\n"
	if !strings.HasSuffix(out, want) {
		t.Errorf("%s, want %s last", out, want)
	}
	_, out, _ = castWith(t.Context(), run, src, "--hosts", "n[1-2]", "-f", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || !r.Hosts[0].Overwritten || r.Hosts[1].Overwritten {
		t.Errorf("%v: %s", err, out)
	}
}

// TestCastLate checks that the report names the last host if it was much later than the median.
func TestCastLate(t *testing.T) {
	t.Parallel()
	for last, want := range map[time.Duration]string{
		20 * time.Second:  "WAN, 0 B from LAN\n",
		100 * time.Second: "\nthe last was n2, after 1m40s; half of them had it after 20s\n",
	} {
		run := func(_ context.Context, cfg cast.Config) (*cast.Result, error) {
			res := &cast.Result{Length: 1000}
			for _, h := range cfg.Hosts {
				res.Hosts = append(res.Hosts, cast.HostResult{Host: h, Phase: cast.Done, Took: 20 * time.Second})
			}
			res.Hosts[1].Took = last
			return res, nil
		}
		if _, out, _ := castWith(t.Context(), run, castSource(t), "--hosts", "n[1-5]"); !strings.HasSuffix(out, want) {
			t.Errorf("%s, want %s last", out, want)
		}
	}
}

func TestCastCluster(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ env, flag, hosts, want string }{
		{"", "", "n1", ""},
		{"", "", "lyon=n1", ""},
		{"", "lyon", "lyon=n1", "lyon"},
		{"lyon", "", "lyon=n1", "lyon"},
		{"lyon", "", "n1", ""},
		{"lyon", "paris", "lyon=n1", "paris"},
		{"", "office", "n1", "office"},
	} {
		f := flags{Config: cast.Config{Cluster: test.flag}, hosts: []string{test.hosts}}
		a := &command.App{Env: &command.Env{Getenv: func(string) string { return test.env }}}
		var err error
		if f.Hosts, err = f.parseHosts(t.Context(), a, "x"); err != nil {
			t.Fatal(err)
		}
		if got, err := f.ownCluster(a); err != nil || got != test.want {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
}

// TestCastFails ends a cast that could not begin.
func TestCastFails(t *testing.T) {
	t.Parallel()
	run := func(context.Context, cast.Config) (*cast.Result, error) { return nil, errors.New("no memory") }
	if status, out, errs := castWith(t.Context(), run, castSource(t), "--hosts", "n1"); status != command.ExitFailed || out != "" || errs != "no memory" {
		t.Errorf("status %d, %s, %s", status, out, errs)
	}
}

func TestCastConfig(t *testing.T) {
	t.Parallel()
	var got cast.Config
	run := func(_ context.Context, cfg cast.Config) (*cast.Result, error) {
		got = cfg
		return &cast.Result{}, nil
	}
	src := castSource(t)
	castWith(t.Context(), run, src, "--hosts", "n[1-2]", "-o", "/data/%h", "--force", "--keep", "--window", "7", "--spool", "5MB",
		"--rsh", os.Args[0]+` -p 22 'a b' "c"d`)
	if got.Source != src || got.Dest != "/data/%h" || got.Exec != "" || !got.Force || !got.Keep || got.Window != 7 || got.Spool != 5_000_000 ||
		len(got.Hosts) != 2 || strings.Join(got.Shell[1:], "|") != "-p|22|a b|cd" {
		t.Errorf("%+v", got)
	}
	castWith(t.Context(), run, "-", "--hosts", "n1", "--exec", "cat")
	if got.Source != "-" || got.Exec != "cat" || got.Stdin == nil || got.Window != 32 || got.Spool != 10_000_000_000 || got.Force || got.Keep {
		t.Errorf("%+v", got)
	}
}

func TestCastStragglers(t *testing.T) {
	t.Parallel()
	var got cast.Config
	run := func(_ context.Context, cfg cast.Config) (*cast.Result, error) {
		got = cfg
		return &cast.Result{}, nil
	}
	src := castSource(t)
	for _, test := range []struct {
		args                      string
		deadline, grace, dropSlow time.Duration
		min                       int
		errs                      string
	}{
		{src, 0, -1, 0, 0, ""},
		{src + " --min 50%", 0, -1, 0, 2, ""},
		{src + " --min 3 --grace 0s", 0, 0, 0, 3, ""},
		{src + " --min 3 --grace 1m --deadline 1h", time.Hour, time.Minute, 0, 3, ""},
		{"- -o x --drop-slow --min 3", 0, -1, 10 * time.Second, 3, ""},
		{src + " --exec cat --drop-slow=5s", 0, -1, 5 * time.Second, 0, ""},
		{src + " --drop-slow", 0, 0, 0, 0, "--drop-slow requires a stream: SRC - or --exec"},
		{src + " --grace 5s", 0, 0, 0, 0, "--grace requires --min"},
		{src + " --grace -5s --min 2", 0, 0, 0, 0, "--grace -5s: must be positive"},
		{src + " --deadline 0s", 0, 0, 0, 0, "--deadline 0s: must be positive"},
	} {
		got = cast.Config{}
		_, _, errs := castWith(t.Context(), run, append(strings.Fields(test.args), "--hosts", "n[1-4]")...)
		if test.errs != "" {
			if !strings.HasPrefix(errs, test.errs) || got.Source != "" {
				t.Errorf("%s: %q", test.args, errs)
			}
		} else if got.Deadline != test.deadline || got.Grace != test.grace || got.DropSlow != test.dropSlow || got.Min != test.min {
			t.Errorf("%s: %q, %+v", test.args, errs, got)
		}
	}
}

func TestCastFrame(t *testing.T) {
	t.Parallel()
	cfg := cast.Config{Source: "big.tar"}
	for _, name := range strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8") {
		cfg.Hosts = append(cfg.Hosts, cast.Host{Name: name, Cluster: "a"})
	}
	v := newView(cfg)
	v.event(cast.Event{Source: &cast.Source{Length: 1000, Read: 250}})
	check := func(wantLine string, wantPicture ...string) {
		t.Helper()
		f := v.frame()
		f.took, f.rate = 12*time.Second, 100
		if got := f.Line(); got != wantLine {
			t.Errorf("line %q, want %q", got, wantLine)
		}
		if got := strings.Join(f.Picture(79), "\n"); got != strings.Join(wantPicture, "\n") {
			t.Errorf("picture\n%s\nwant\n%s", got, strings.Join(wantPicture, "\n"))
		}
	}
	check("big.tar: 1.0 kB (25% read) to 8 hosts, 12s; 8 waiting",
		"big.tar: 1.0 kB (25% read) to 8 hosts, 12s",
		"  waiting       8  ")
	v.event(cast.Event{Source: &cast.Source{Length: 1000, Read: 1000}})
	for i, r := range []cast.HostResult{
		{Phase: cast.Waiting}, {Phase: cast.Login}, {Phase: cast.Login}, {Phase: cast.Fetching, Progress: cast.Progress{Bytes: 200}},
		{Phase: cast.Fetching, Progress: cast.Progress{Bytes: 100, Waiting: "peers"}}, {Phase: cast.Done, Progress: cast.Progress{Bytes: 1000}}, {Phase: cast.Failed, Error: "no space left"},
		{Phase: cast.Failed, Error: "ssh: connection timed out"},
	} {
		r.Host, r.Moved = cfg.Hosts[i], time.Now()
		v.event(cast.Event{Index: i, Host: &r})
	}
	check("big.tar: 1.0 kB to 8 hosts, 12s, 21%, 100 B/s; 1 waiting, 2 login, 2 fetching (slowest n5, 10%, waiting for peers), 1 done, 2 failed",
		"big.tar: 1.0 kB to 8 hosts, 12s",
		"  waiting       1  ",
		"  login         2  n[2-3]",
		"  fetching      2  [======                        ]  21%, 100 B/s, 47s left",
		"                   slowest: n5, 10%, waiting for peers",
		"  done          1  ",
		"  failed        1  n7 no space left",
		"                1  n8 ssh: connection timed out")
	v.event(cast.Event{Source: &cast.Source{Length: -1, Read: 5000}})
	check("big.tar: 5.0 kB so far to 8 hosts, 12s, 100 B/s; 1 waiting, 2 login, 2 fetching (slowest n5, 100 B, waiting for peers), 1 done, 2 failed",
		"big.tar: 5.0 kB so far to 8 hosts, 12s",
		"  waiting       1  ",
		"  login         2  n[2-3]",
		"  fetching      2  1.3 kB, 100 B/s",
		"                   slowest: n5, 100 B, waiting for peers",
		"  done          1  ",
		"  failed        1  n7 no space left",
		"                1  n8 ssh: connection timed out")
}

// TestCastOutputBounded drops what commands print while standard output takes nothing.
func TestCastOutputBounded(t *testing.T) {
	t.Parallel()
	v := newView(cast.Config{Hosts: []cast.Host{{Name: "n1"}}})
	line := strings.Repeat("x", 1<<20)
	for range 20 {
		v.event(cast.Event{Output: &line})
	}
	if lines, dropped := v.takeOutput(); len(lines) != 16 || dropped != 4 {
		t.Errorf("%d lines, %d dropped", len(lines), dropped)
	}
	v.event(cast.Event{Output: &line})
	if lines, dropped := v.takeOutput(); len(lines) != 1 || dropped != 0 {
		t.Errorf("%d lines, %d dropped", len(lines), dropped)
	}
	empty := ""
	for range maxQueue {
		v.event(cast.Event{Output: &empty})
	}
	if lines, dropped := v.takeOutput(); len(lines) != maxQueue/minLine || dropped != maxQueue-len(lines) {
		t.Errorf("%d empty lines, %d dropped", len(lines), dropped)
	}
}
