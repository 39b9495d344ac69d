package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/fleet"
)

// systemNames are the systems that can be compared.
func systemNames() []string { return []string{"mob"} }

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
		return nil, fmt.Errorf("--systems is empty")
	}
	return all, nil
}

func makeSystem(name string) (bench.System, error) {
	switch name {
	case "mob":
		self, err := os.Executable()
		return fleet.System{Bin: filepath.Dir(self)}, err
	}
	return nil, fmt.Errorf("unknown system %q: use some of %s", name, strings.Join(systemNames(), ", "))
}
