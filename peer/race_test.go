//go:build race

package peer_test

// raceDetector multiplies the memory of a process.
const raceDetector = true
