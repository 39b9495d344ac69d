package cast

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/cast/hostset"
)

// names formats hosts as CLUSTER=NAME.
func names(hosts []Host) string {
	var all []string
	for _, h := range hosts {
		all = append(all, h.Cluster+"="+h.Name)
	}
	return strings.Join(all, " ")
}

func TestHosts(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "nodes")
	lines := "# all of them\nn[1-2] lyon\r\n\n  n3   tokyo # the new one\nn4\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string { return map[string]string{"SLURM_JOB_NODELIST": "s[1-2],gpu1"}[name] }
	for _, c := range []struct{ specs, want string }{
		{"n[1-2],gw", "default=n1 default=n2 default=gw"},
		{"lyon=n[1-2] tokyo=t1 gw", "lyon=n1 lyon=n2 tokyo=t1 default=gw"},
		{"n[1-4]!n2", "default=n1 default=n3 default=n4"},
		{"@" + file, "lyon=n1 lyon=n2 tokyo=n3 default=n4"},
		{"geneva=@" + file, "lyon=n1 lyon=n2 tokyo=n3 geneva=n4"},
		{"-", "lyon=n1 lyon=n2 tokyo=n3 default=n4"},
		{"x1 a=-", "default=x1 lyon=n1 lyon=n2 tokyo=n3 a=n4"},
		{"slurm", "default=s1 default=s2 default=gpu1"},
		{"a=slurm b=slurm1", "a=s1 a=s2 a=gpu1 b=slurm1"},
	} {
		got, err := Hosts(strings.Fields(c.specs), env, strings.NewReader(lines))
		if err != nil || names(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.specs, names(got), err, c.want)
		}
	}
}

func TestHostsErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("bad", "n1\nn[2-x]\n")
	write("cluster", "n1 ly=on\n")
	write("words", "n1 lyon tokyo\n")
	write("empty", "# no host\n\n")
	write("twice", "n1\nn[3-5]\nn4 lyon\n")
	for specs, want := range map[string]string{
		"":              "no hosts are named",
		"n[1-":          `"n[1-", position 5: want a number`,
		"lyon=n[1-":     `lyon=n[1-: "n[1-", position 5: want a number`,
		"=n1":           `=n1: cluster name "": want 1 to`,
		"ly//on=n1":     `no part may be ""`,
		"n1!n[1-3]":     "n1!n[1-3]: no host is left",
		"n1 n2!n2":      "n2!n2: no host is left",
		"n[1-3] a=n3":   "duplicate host n3: in n[1-3] and a=n3",
		"n1 n1":         "duplicate host n1: in n1 and n1",
		"n1,n1":         "position 4: duplicate host n1",
		"n1,@DIR/empty": `"@": groups of hosts are not supported`,
		"@DIR/nothing":  "no such file",
		"@DIR":          "is a directory",
		"@":             "no such file",
		"@DIR/bad":      `/bad:2: "n[2-x]", position 5: want a number, not "x"`,
		"@DIR/cluster":  `/cluster:1: cluster name "ly=on"`,
		"@DIR/words":    "/words:1: must be HOSTSET [CLUSTER], not 3 words",
		"@DIR/empty":    "/empty names no hosts",
		"@DIR/twice":    "duplicate host n4: in DIR/twice:2 and DIR/twice:3",
		"-":             "standard input names no hosts",
		"- -":           "standard input names no hosts",
		"a=n1 slurm":    "$SLURM_JOB_NODELIST is not set",
	} {
		got, err := Hosts(strings.Fields(strings.ReplaceAll(specs, "DIR", dir)), func(string) string { return "" }, strings.NewReader(""))
		if want = strings.ReplaceAll(want, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d hosts, %v, want %s", specs, len(got), err, want)
		}
	}
	full := hostList{hosts: make([]Host, hostset.MaxHosts-2), where: map[string]string{}}
	must(t, full.add("n[1-2]", "lyon", "n[1-2]"))
	if err, want := full.add("m1", "lyon", "lyon=m1"), "lyon=m1: more than 2000000 hosts"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Hosts([]string{"-", "a=-"}, os.Getenv, strings.NewReader("n1")); err == nil || !strings.Contains(err.Error(), "duplicate -") {
		t.Errorf("duplicate -: %v", err)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	h := Host{"n7", "lyon"}
	for text, want := range map[string]string{
		"":                 "",
		"/data/x":          "/data/x",
		"/data/%h":         "/data/n7",
		"%c/%h/100%%":      "lyon/n7/100%",
		"%%h":              "%h",
		"%h%h%c":           "n7n7lyon",
		"date +%%s > %h é": "date +%s > n7 é",
	} {
		if got, err := h.Expand(text); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"/data/%":   `"/data/%" ends with a single %`,
		"%h%%%":     "ends with a single %",
		"date +%s":  `"date +%s" has %s: there are %h (host), %c (cluster) and %% (a percent sign)`,
		"%é":        "has %é",
		"%h % %c %": "has % ",
	} {
		if got, err := h.Expand(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %s", text, got, err, want)
		}
	}
}

// TestOwnCluster checks the cluster of the caster: the given one, the one of all hosts, or a separate one.
func TestOwnCluster(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cluster string
		of      []string // the clusters of hosts
		want    string
	}{
		{"", []string{DefaultCluster, DefaultCluster}, DefaultCluster},
		{"", []string{"lyon", "lyon"}, "lyon"},
		{"", []string{"lyon", "tokyo"}, "source"},
		{"", []string{"source", "tokyo", "source-"}, "source--"},
		{"", []string{DefaultCluster, "tokyo"}, "source"},
		{"lyon", []string{"lyon", "tokyo"}, "lyon"},
		{"office", []string{"lyon"}, "office"},
	} {
		cfg := &Config{Cluster: test.cluster}
		for _, c := range test.of {
			cfg.Hosts = append(cfg.Hosts, Host{Name: "n", Cluster: c})
		}
		if got := ownCluster(cfg); got != test.want {
			t.Errorf("%q of %v, want %s", got, test.of, test.want)
		}
	}
}

// endless is a list of hosts that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

func TestEndlessHosts(t *testing.T) {
	t.Parallel()
	list := io.LimitReader(endless{}, 2*maxHostFile) // a failing test ends, too
	if _, err := Hosts([]string{"-"}, nil, list); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Errorf("error %v", err)
	}
}
