//go:build !race

package hostset

const raceDetector = false
