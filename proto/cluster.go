package proto

import (
	"fmt"
	"strings"
)

// CheckCluster reports why name cannot be the name of a cluster. It is a path of 1 to
// [MaxClusterParts] parts with slashes between them, as "geneva" or "geneva/rack3", of at most
// [MaxCluster] bytes. A part has letters, digits, '.', '_' and '-', and is not "." or "..".
func CheckCluster(name string) error {
	if name == "" || len(name) > MaxCluster {
		return fmt.Errorf("cluster name %q: want 1 to %d characters", name, MaxCluster)
	}
	parts := strings.Split(name, "/")
	if len(parts) > MaxClusterParts {
		return fmt.Errorf("cluster name %q: %d parts, at most %d", name, len(parts), MaxClusterParts)
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("cluster name %q: no part may be %q", name, part)
		}
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-', c == '/':
		default:
			return fmt.Errorf("cluster name %q: only letters, digits, '.', '_' and '-' may be used in its parts", name)
		}
	}
	return nil
}

// ClusterParts returns how many parts the name of a cluster has.
func ClusterParts(name string) int { return strings.Count(name, "/") + 1 }

// ClusterGroup returns the first parts of a cluster's name, which name a group that the cluster
// is in: its site, or a part of that. It is the whole name if that has no more parts.
func ClusterGroup(name string, parts int) string {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if parts--; parts == 0 {
			return name[:i]
		}
	}
	return name
}

// SharedParts returns how many parts the names of two clusters share, from the first on: 0 for
// clusters of different sites.
func SharedParts(a, b string) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return n
		}
		if a[i] == '/' {
			n++
		}
	}
	if len(a) == len(b) || len(a) < len(b) && b[len(a)] == '/' || len(b) < len(a) && a[len(b)] == '/' {
		n++
	}
	return n
}
