//go:build race

package cli

// raceDetector multiplies the CPU time of a process.
const raceDetector = true
