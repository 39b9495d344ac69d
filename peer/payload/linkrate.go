package payload

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/proto"
)

// AutoK stands for generations of a size that suits this machine and its network.
const AutoK = -1

// ChooseK is by how many source blocks in a generation a content is to be coded: k
// itself if there is a coding with it, or what suits for [AutoK].
func ChooseK(m *proto.Manifest, k int) (int, error) {
	if k == AutoK {
		return coded.ChooseK(m, linkRate("/sys/class/net"))
	}
	_, err := proto.NewCoding(m, k)
	return k, err
}

// assumedRate is the rate of a network that does not say how fast it is, in bytes per
// second: 1 Gbit/s.
const assumedRate = 125e6

// linkRate is that of the fastest interface which is up, in bytes per second, as the
// folder of Linux's interfaces has it.
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
