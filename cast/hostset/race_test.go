//go:build race

package hostset

// raceDetector reports whether the race detector slows some calls down.
const raceDetector = true
