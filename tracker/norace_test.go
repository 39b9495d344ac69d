//go:build !race

package tracker

const raceDetector = false
