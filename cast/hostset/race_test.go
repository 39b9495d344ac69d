//go:build race

package hostset

// raceDetector makes some calls slower than others.
const raceDetector = true
