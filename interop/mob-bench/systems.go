package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/stock"
)

// own is the name of mob as a system.
const own = "mob"

// otherSystems lists the systems that mob can be compared with.
func otherSystems() (all []bench.System) {
	for _, c := range stock.All() {
		all = append(all, bench.BitTorrent{Client: c})
	}
	for _, c := range bench.Copiers() {
		all = append(all, c)
	}
	return append(all, bench.MagPIe{})
}

// systemNames lists the systems that can be compared.
func systemNames() []string {
	names := []string{own, own + castSuffix}
	for _, s := range otherSystems() {
		names = append(names, s.Name())
	}
	return names
}

// parseSystems parses the names of --systems. An error is a usage error.
func parseSystems(names []string) ([]bench.System, error) {
	var all []bench.System
	for _, name := range names {
		s, err := parseSystem(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other bench.System) bool { return other.Name() == s.Name() }) {
			return nil, fmt.Errorf("--systems: duplicate %s", s.Name())
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("--systems is empty")
	}
	return all, nil
}

func parseSystem(name string) (bench.System, error) {
	if name == own {
		return ownSystem()
	}
	if options, cast := strings.CutPrefix(name, own+castSuffix); cast && (options == "" || options[0] == ':') {
		return castSystem(name, strings.Split(options, ":")[1:])
	}
	if options, seeded := strings.CutPrefix(name, own+":"); seeded {
		return seededSystem(strings.Split(options, ":"))
	}
	for _, s := range otherSystems() {
		if s.Name() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("unknown system %q: use some of %s", name, strings.Join(systemNames(), ","))
}

// ownSystem is mob and mobd beside mob-bench.
func ownSystem() (bench.Mob, error) {
	self, err := os.Executable()
	return bench.Mob{Bin: filepath.Dir(self)}, err
}

// seededSystem is mob with options of mob seed, to pipes, or with names cut to the site.
func seededSystem(options []string) (bench.System, error) {
	s, err := ownSystem()
	if err != nil {
		return nil, err
	}
	s.Options = options
	if err := checkSeedOptions(s.SeedOptions()); err != nil {
		return nil, fmt.Errorf("unknown system %q: mob seed: %w", s.Name(), err)
	}
	return s, nil
}

// castSuffix follows the name of mob for mob cast.
const castSuffix = ":cast"

// castSystem is mob cast, with options there and stream.
func castSystem(name string, options []string) (bench.System, error) {
	s, err := ownSystem()
	for _, o := range options {
		if o != bench.ThereOption && o != bench.StreamOption {
			return nil, fmt.Errorf("unknown system %q: %s has the options \"there\" and \"stream\"", name, own+castSuffix)
		}
	}
	return bench.Cast{Bin: s.Bin, Options: options}, err
}

// ownNames lists the systems that are mob alone, for --check: "mob" if there is none. A cast
// to hosts without the program is not among them, since it also has that to send; nor is one
// that knows no racks, for what enters them.
func ownNames(systems []bench.System) []string {
	var names []string
	for _, s := range systems {
		m, alone := s.(bench.Mob)
		c, cast := s.(bench.Cast)
		if alone && !m.Has(bench.FlatOption) || cast && c.Has(bench.ThereOption) {
			names = append(names, s.Name())
		}
	}
	if len(names) == 0 {
		return []string{own}
	}
	return names
}
