package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/fleet"
	"github.com/mobgrid/mob/interop/stock"
)

// own is the system that this program is.
const own = "mob"

// systemNames are the systems that can be compared.
func systemNames() []string { return append([]string{own}, clientNames()...) }

func clientNames() []string {
	var names []string
	for _, c := range stock.All() {
		names = append(names, c.Name())
	}
	return names
}

// makeSystems makes systems of their names. An error is wrong usage.
func (sh *Shell) makeSystems(names []string) ([]bench.System, error) {
	var all []bench.System
	for _, name := range names {
		s, err := sh.makeSystem(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other bench.System) bool { return other.Name() == s.Name() }) {
			return nil, fmt.Errorf("--systems has %s twice", s.Name())
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("--systems is empty")
	}
	return all, nil
}

func (sh *Shell) makeSystem(name string) (bench.System, error) {
	if name == own {
		return ownSystem()
	}
	if options, seeded := strings.CutPrefix(name, own+":"); seeded {
		return sh.seeded(strings.Split(options, ":"))
	}
	if strings.HasPrefix(name, own+"+") {
		return mixed(name)
	}
	if c := client(name); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("unknown system %q: use some of %s, or such as %s", name, strings.Join(systemNames(), ","), mixedExample)
}

// ownSystem is this very program.
func ownSystem() (fleet.System, error) {
	self, err := os.Executable()
	return fleet.System{Bin: filepath.Dir(self)}, err
}

const seededExample = own + ":coded=32"

// seeded is this program with options of mob seed.
func (sh *Shell) seeded(options []string) (bench.System, error) {
	s, err := ownSystem()
	if err != nil {
		return nil, err
	}
	s.Seed = options
	if err := sh.CheckSeed(options); err != nil {
		return nil, fmt.Errorf("unknown system %q: mob seed: %w", s.Name(), err)
	}
	return s, nil
}

// ownNames are the names of those systems that are this program alone, if any is.
func ownNames(systems []bench.System) []string {
	var names []string
	for _, s := range systems {
		if _, is := s.(fleet.System); is {
			names = append(names, s.Name())
		}
	}
	if len(names) == 0 {
		return []string{own}
	}
	return names
}

// client is the stock client of a name, if there is one.
func client(name string) *stock.Client {
	for _, c := range stock.All() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

const mixedExample = own + "+aria2:50%"

// mixed makes such as mob+aria2:50%, or mob+aria2+libtorrent:50%.
func mixed(name string) (bench.System, error) {
	names, share, _ := strings.Cut(name, ":")
	number, percent := strings.CutSuffix(share, "%")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(n > 0 && n <= 100) {
		return nil, fmt.Errorf("%q is not such as %s: aria2 at half of each cluster's receivers", name, mixedExample)
	}
	m := fleet.Mixed{Percent: n}
	if m.System, err = ownSystem(); err != nil {
		return nil, err
	}
	for _, kind := range strings.Split(names, "+")[1:] {
		c := client(kind)
		if c == nil {
			return nil, fmt.Errorf("%q: no client %q: use some of %s", name, kind, strings.Join(clientNames(), ","))
		}
		m.Clients = append(m.Clients, c)
	}
	return m, nil
}
