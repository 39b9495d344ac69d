// Package topology reads the file TOPOLOGY.toml: hosts, switches, links and their rates.
package topology

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer/limit"
)

// file is the form of a TOPOLOGY.toml.
type file struct {
	Host []struct {
		Name    string `toml:"name"`
		Cluster string `toml:"cluster"`
		Send    rate   `toml:"send"`
		Receive rate   `toml:"receive"`
	} `toml:"host"`
	Switch []struct {
		Name string `toml:"name"`
	} `toml:"switch"`
	Link []struct {
		A    string `toml:"a"`
		B    string `toml:"b"`
		Rate rate   `toml:"rate"`
		AB   rate   `toml:"ab"`
		BA   rate   `toml:"ba"`
	} `toml:"link"`
}

// rate is a rate in bytes per second; 0 if it is missing. The type rejects numbers without a unit.
type rate struct{ float64 }

// UnmarshalText parses a rate in the format of flags. It must not be 0.
func (r *rate) UnmarshalText(text []byte) error {
	v, err := limit.ParseRate(string(text))
	if err == nil && v == 0 {
		err = fmt.Errorf("rate %q is not more than 0: leave out a link without traffic, and a rate without a limit", text)
	}
	r.float64 = float64(v)
	return err
}

// maxSize bounds a file, in bytes.
const maxSize = 32 << 20

// Read reads a file.
func Read(path string) (*plan.Topology, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(b) > maxSize {
		err = fmt.Errorf("%s: a topology has at most %s", path, term.Bytes(maxSize))
	}
	if err != nil {
		return nil, err
	}
	t, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	return t, nil
}

// Parse parses a file. An error starts with a colon, and with the line and column if they are known.
func Parse(b []byte) (*plan.Topology, error) {
	var file file
	var syntax *toml.DecodeError
	var unknown *toml.StrictMissingError
	err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(&file)
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		row, column := unknown.Errors[0].Position()
		return nil, fmt.Errorf(":%d:%d: unknown key %q: a topology has [[host]] with name, cluster, send and receive, "+
			"[[switch]] with name, and [[link]] with a, b, and rate, or ab and ba", row, column, strings.Join(unknown.Errors[0].Key(), "."))
	case errors.As(err, &syntax):
		row, column := syntax.Position()
		return nil, fmt.Errorf(":%d:%d: %w", row, column, err)
	case err != nil:
		return nil, fmt.Errorf(": %w", err)
	}
	t := new(plan.Topology)
	for _, h := range file.Host {
		t.Hosts = append(t.Hosts, plan.Host{Name: h.Name, Cluster: h.Cluster, Send: h.Send.float64, Receive: h.Receive.float64})
	}
	for _, s := range file.Switch {
		t.Switches = append(t.Switches, s.Name)
	}
	for _, l := range file.Link {
		ab, ba, both := l.AB.float64, l.BA.float64, l.Rate.float64
		switch {
		case both > 0 && (ab > 0 || ba > 0), both == 0 && (ab == 0 || ba == 0):
			return nil, fmt.Errorf(": link %q: give rate, or both ab and ba", l.A+"-"+l.B)
		case both > 0:
			ab, ba = both, both
		}
		t.Links = append(t.Links, plan.Link{A: l.A, B: l.B, AB: ab, BA: ba})
	}
	return t, nil
}
