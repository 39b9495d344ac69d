package feed

import (
	"cmp"
	"fmt"
	"slices"
)

// Settings of a feed are in the file feed.json.
type Settings struct {
	Link string `json:"link"`
	// Dir is the directory of a follower, empty at the publisher. Keep is the number of complete versions that it keeps.
	Dir  string `json:"dir,omitempty"`
	Keep int    `json:"keep,omitempty"`
	// Exec is the command line that is run with each complete version.
	Exec string `json:"exec,omitempty"`
}

// Info describes a feed of a node.
type Info struct {
	Settings
	Name string `json:"name"`
	Status
	// Last is the last complete version, after the end of its command.
	Last *Version `json:"last,omitempty"`
	// Followers has what the followers reported to the publisher.
	Followers []Report `json:"followers,omitempty"`
}

// Status is the status of a follower or a publisher.
type Status struct {
	// Newest is the newest version that is known, Complete the newest one that is complete here, 0 for none.
	Newest   uint64 `json:"newest"`
	Complete uint64 `json:"complete"`
	// Saved is the number of bytes of all versions that were not fetched, since the follower was set up.
	Saved   int64  `json:"saved"`
	Members int    `json:"members"` // of the group, without this node
	Error   string `json:"error,omitempty"`
}

// Version is a complete version of a feed at a follower.
type Version struct {
	Seq  uint64 `json:"version"`
	ID   string `json:"id"`
	Path string `json:"path"`
	Note string `json:"note,omitempty"`
	// Length is the size of the content, Saved the part of it that was not fetched, both in bytes.
	Length int64 `json:"length"`
	Saved  int64 `json:"saved"`
	// Error is the error of its command, empty for none.
	Error string `json:"error,omitempty"`
}

// All describes the feeds, sorted by name.
func (s *Feeds) All() (all []Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.all {
		info := Info{Settings: e.Settings, Name: cmp.Or(e.link.Name, e.link.ID())}
		if e.role != nil {
			e.role.describe(&info)
		}
		if e.err != nil {
			info.Error = "it does not run: " + e.err.Error()
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Link, b.Link)) })
	return all
}

// Find finds a feed by its name, id or link.
func Find(all []Info, name string) (found Info, err error) {
	id := name
	if l, err := ParseLink(name); err == nil {
		id = l.ID()
	}
	for _, info := range all {
		l, invalid := ParseLink(info.Link)
		switch {
		case invalid == nil && l.ID() == id:
			return info, nil
		case info.Name != name:
		case found.Link != "":
			err = fmt.Errorf("two feeds are called %s: give the link", name)
		default:
			found = info
		}
	}
	if found.Link == "" {
		err = fmt.Errorf("this node has no feed called %s: make it with `mob feed new`, or see `mob status`", name)
	}
	return found, err
}
