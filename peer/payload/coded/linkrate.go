package coded

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// assumedRate is assumed of interfaces that do not report their speed: 1 Gbit/s, in bytes
// per second.
const assumedRate = 125e6

// linkRate returns the speed in bytes per second of the fastest interface that is up, as
// Linux reports it in dir.
func linkRate(dir string) float64 {
	var most float64
	speeds, _ := filepath.Glob(filepath.Join(dir, "*", "speed")) // the pattern is right
	for _, path := range speeds {
		state, err := os.ReadFile(filepath.Join(filepath.Dir(path), "operstate"))
		if err != nil || strings.TrimSpace(string(state)) != "up" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue // such as a bridge without ports
		}
		if mbit, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			most = max(most, float64(mbit)*1e6/8)
		}
	}
	if most <= 0 {
		return assumedRate
	}
	return most
}
