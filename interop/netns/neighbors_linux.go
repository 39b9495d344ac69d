package netns

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// neighborLimits are the least sizes of the kernel's neighbor table: below the first it is not
// cleaned, beyond the last the kernel adds no address. All namespaces of the machine share it. With
// the kernel's default of 1024 the grid of 64 nodes has nodes that reach no other node.
var neighborLimits = [...]int{4096, 8192, 16384} //nolint:gochecknoglobals // a constant in all but form

// raiseNeighborLimits raises the limits of the neighbor table, for the whole machine. It lowers none.
// Without it small grids work too, so errors are ignored.
func raiseNeighborLimits() {
	for k, least := range neighborLimits {
		name := fmt.Sprintf("net/ipv4/neigh/default/gc_thresh%d", k+1)
		text, _ := os.ReadFile("/proc/sys/" + name)
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n < least {
			_ = writeSysctl(name, strconv.Itoa(least))
		}
	}
}
