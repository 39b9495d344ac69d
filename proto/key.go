package proto

import "fmt"

// checkKey reports why b cannot be a key of a swarm, which is a binary content id.
func checkKey(b []byte) error {
	if len(b) == 0 || len(b) > MaxCID {
		return fmt.Errorf("content id of %d bytes, want 1 to %d", len(b), MaxCID)
	}
	return nil
}
