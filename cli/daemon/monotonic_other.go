//go:build !linux

package daemon

import "time"

// monotonic is for systemd, which is elsewhere.
func monotonic() time.Duration { return 0 }
