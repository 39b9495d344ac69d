package datadir

import "fmt"

// InUseError answers [Lock] when another process has the folder.
type InUseError struct{ Dir string }

// Error implements error.
func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is in use by another daemon: stop that one, or choose another --data", e.Dir)
}
