package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/fleet"
	"github.com/mobgrid/mob/interop/stock"
)

// own is the system that this program is.
const own = "mob"

// systemNames are the systems that can be compared.
func systemNames() []string {
	names := []string{own}
	for _, c := range stock.All() {
		names = append(names, c.Name())
	}
	return names
}

// makeSystems makes systems of their names.
func makeSystems(names []string) ([]bench.System, error) {
	var all []bench.System
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("--systems has %s twice", name)
		}
		s, err := makeSystem(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("--systems is empty")
	}
	return all, nil
}

func makeSystem(name string) (bench.System, error) {
	if name == own {
		self, err := os.Executable()
		return fleet.System{Bin: filepath.Dir(self)}, err
	}
	for _, c := range stock.All() {
		if c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("unknown system %q: use some of %s", name, strings.Join(systemNames(), ","))
}
