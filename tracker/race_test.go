//go:build race

package tracker

// raceDetector multiplies CPU time.
const raceDetector = true
