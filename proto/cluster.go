package proto

import "fmt"

// CheckCluster reports why name cannot be the name of a cluster, which has 1 to
// [MaxCluster] bytes of letters, digits, '.', '_' and '-'.
func CheckCluster(name string) error {
	if name == "" || len(name) > MaxCluster {
		return fmt.Errorf("cluster name %q: want 1 to %d characters", name, MaxCluster)
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return fmt.Errorf("cluster name %q: only letters, digits, '.', '_' and '-' may be used", name)
		}
	}
	return nil
}
