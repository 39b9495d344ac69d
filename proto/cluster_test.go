package proto

import "testing"

func TestCheckCluster(t *testing.T) {
	for name, ok := range map[string]bool{
		"geneva":       true,
		"geneva/rack3": true,
		"a/b/c/d":      true,
		"a/b/c/d/e":    false,
		"":             false,
		"/":            false,
		"/a":           false,
		"a/":           false,
		"a//b":         false,
		"a/..":         false,
		"./a":          false,
		"a b":          false,
		"a/b\n":        false,
	} {
		if err := CheckCluster(name); (err == nil) != ok {
			t.Errorf("CheckCluster(%q) = %v", name, err)
		}
	}
}

func TestSharedParts(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"a", "a", 1},
		{"a", "b", 0},
		{"a", "ab", 0},
		{"a", "a/b", 1},
		{"a/b", "a/b", 2},
		{"a/b", "a/bc", 1},
		{"a/b", "a/c", 1},
		{"a/b", "b/b", 0},
		{"a/b/c", "a/b/d", 2},
		{"a/b/c/d", "a/b/c/d", 4},
	} {
		if got, back := SharedParts(c.a, c.b), SharedParts(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("SharedParts(%q, %q) = %d, %d the other way; want %d", c.a, c.b, got, back, c.want)
		}
	}
}

func TestClusterGroup(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts int
		want  string
	}{
		{"a", 1, "a"},
		{"a", 3, "a"},
		{"a/b/c", 1, "a"},
		{"a/b/c", 2, "a/b"},
		{"a/b/c", 3, "a/b/c"},
	} {
		if got := ClusterGroup(c.name, c.parts); got != c.want {
			t.Errorf("ClusterGroup(%q, %d) = %q, want %q", c.name, c.parts, got, c.want)
		}
	}
	if got := ClusterParts("a/b/c"); got != 3 {
		t.Errorf("ClusterParts: %d, want 3", got)
	}
}
