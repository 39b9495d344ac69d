package hostset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gw":                         "gw",
		"gw, login1":                 "gw login1",
		" \tgw\n":                    "gw",
		"n[3,1-2]":                   "n3 n1 n2",
		"node[13-15,17-19]":          "node13 node14 node15 node17 node18 node19",
		"node[1-2]-ipmi":             "node1-ipmi node2-ipmi",
		"[1-2].example.com":          "1.example.com 2.example.com",
		"n[8-11]":                    "n8 n9 n10 n11",
		"node[08-11]":                "node08 node09 node10 node11",
		"n[098-101]":                 "n098 n099 n100 n101",
		"n[98-101]":                  "n98 n99 n100 n101",
		"n[01-2]":                    "n01 n02",
		"n[0-0]":                     "n0",
		"n[0,00,000]":                "n0 n00 n000",
		"node[0-6/2]":                "node0 node2 node4 node6",
		"node[1-6/2]":                "node1 node3 node5",
		"node[000-012/4]":            "node000 node004 node008 node012",
		"n[1-3/99]":                  "n1",
		"node1[00-02,000-032/8]":     "node100 node101 node102 node1000 node1008 node1016 node1024 node1032",
		"node-[1-2]0-[0-2]5":         "node-10-05 node-10-15 node-10-25 node-20-05 node-20-15 node-20-25",
		"node-00[1-3]0":              "node-0010 node-0020 node-0030",
		"da[2-3]c[1-2]p[0-1]":        "da2c1p0 da2c1p1 da2c2p0 da2c2p1 da3c1p0 da3c1p1 da3c2p0 da3c2p1",
		"root@[1-2]:22,fe80::1%eth0": "root@1:22 root@2:22 fe80::1%eth0",
		"node[10-12],node46!node10":  "node11 node12 node46",
		"node[1-9]!node6&node[6-12]": "node7 node8 node9",
		"node[1-9]^node[6-11]":       "node1 node2 node3 node4 node5 node10 node11",
		"n[1-3]!n1,n1":               "n2 n3 n1",
		"n[1-3] & n[2-9] ! n3":       "n2",
		"n1!n1":                      "",
		"n1!n1,n2":                   "n2",
		"n1^n1":                      "",
		"n1&n2":                      "",
		"n1!n[5,5]":                  "n1",
		"n[99999999999999998-99999999999999999/5]": "n99999999999999998",
	} {
		got, err := Parse(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		pos  int
		want string
	}{
		{"", 0, "want a host"},
		{"  ", 2, "want a host"},
		{"n1,", 3, "want a host"},
		{",n1", 0, `want a host, not ","`},
		{"n1,!n2", 3, `want a host, not "!"`},
		{"!n1", 0, `want a host, not "!"`},
		{"n1 n2", 3, `want "," between hosts, not "n"`},
		{"n1;n2", 2, `not ";"`},
		{"n1=n2", 2, `not "="`},
		{"n[1-3", 5, `want "," or "]"`},
		{"n[", 2, "want a number"},
		{"n[]", 2, `want a number, not "]"`},
		{"n[1-]", 4, "want a number"},
		{"n[1,]", 4, "want a number"},
		{"n[-1]", 2, "want a number"},
		{"n[1-2-3]", 5, `want "," or "]", not "-"`},
		{"n[1/2]", 3, `want "," or "]", not "/"`},
		{"n[a-c]", 2, `want a number, not "a"`},
		{"n[1, 2]", 4, `want a number, not " "`},
		{"n[[1]]", 2, "want a number"},
		{"n1]", 2, `not "]"`},
		{"n[5-4]", 4, "4 comes before 5"},
		{"n[01-010]", 5, "01 and 010 are padded to different widths"},
		{"n[8-011]", 4, "padded to different widths"},
		{"n[1-9/0]", 6, "step 0"},
		{"n[1-9/]", 6, "want a number"},
		{"n[123456789012345678]", 2, "a number has at most 17 digits"},
		{"-oProxyCommand=x", 0, "a host name starts with a letter or a digit"},
		{"n1,-v", 3, "a host name starts with a letter or a digit"},
		{"@compute", 0, `"@": groups of hosts are not supported`},
		{"n1,@compute", 3, `"@": groups of hosts are not supported`},
		{"n*", 1, "wildcards are not supported"},
		{"n?", 1, "wildcards are not supported"},
		{"$(reboot)", 0, `want a host, not "$"`},
		{"n/1", 1, `not "/"`},
		{"n\x00", 1, `not "\x00"`},
		{"é1", 0, `want a host, not "é"`},
		{"n[1-3],n2", 7, "duplicate host n2"},
		{"gw,n[1-3],gw", 10, "duplicate host gw"},
		{"n[1-3,2]", 0, "duplicate host n2"},
		{"n[1,11][1,11]", 0, "duplicate host n111"},
		{"n1^n[2,2]", 3, "duplicate host n2"},
		{"n[1-999999999999]", 0, "more than 2000000 hosts"},
		{"gw,n[1-2000000]", 3, "more than 2000000 hosts"},
		{"n[1-99999][1-99999][1-99999][1-99999][1-99999]", 0, "more than 2000000 hosts"},
		{"gw!n[1-2000000]", 3, "more than 2000000 hosts"},
		{strings.Repeat("x", maxName+1), 0, "a host name has at most 320 characters"},
		{"gw," + strings.Repeat("[10-11]", maxName/2+1), 3, "a host name has at most 320 characters"},
	} {
		got, err := Parse(c.text)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Pos != c.pos || !strings.Contains(e.Problem, c.want) {
			t.Errorf("%q: %d hosts, %v, want %q at %d", c.text, len(got), err, c.want, c.pos)
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	t.Parallel()
	_, err := Parse("n[1-x]")
	if want := `"n[1-x]", position 5: want a number, not "x"`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Parse("n[" + strings.Repeat("1,", 50) + "x," + strings.Repeat("1,", 50) + "1]")
	if want := `..."` + strings.Repeat("1,", 15) + "x," + strings.Repeat("1,", 14) + `"..., position 103: want a number, not "x"`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestOperators compares random sets with sets of numbers.
func TestOperators(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text, want := "n0", map[int]bool{0: true}
		for range rng.IntN(8) {
			from := rng.IntN(20)
			to := from + rng.IntN(10)
			op := "!&^"[rng.IntN(3)]
			text += fmt.Sprintf("%cn[%d-%d]", op, from, to)
			for n := range 40 {
				right := from <= n && n <= to
				switch op {
				case '!':
					want[n] = want[n] && !right
				case '&':
					want[n] = want[n] && right
				case '^':
					want[n] = want[n] != right
				}
			}
		}
		var names []string
		for n, in := range want {
			if in {
				names = append(names, fmt.Sprintf("n%d", n))
			}
		}
		got, err := Parse(text)
		slices.Sort(got)
		slices.Sort(names)
		if err != nil || !slices.Equal(got, names) {
			t.Fatalf("%s: %v, %v, want %v", text, got, err, names)
		}
	}
}

// TestManyExclusions uses one operator for each host: each costs what its operand does.
func TestManyExclusions(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("n[1-100000]")
	for n := range 99_999 {
		fmt.Fprintf(&b, "!n%d", n+2)
	}
	got, err := Parse(b.String())
	if err != nil || !slices.Equal(got, []string{"n1"}) {
		t.Errorf("%d hosts, %v", len(got), err)
	}
}
