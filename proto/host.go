package proto

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Host is a member of a planned swarm by the name of its host, which it gave itself. A name is a
// hint, like the rest: nothing in it is proved.
type Host struct {
	_    struct{} `cbor:",toarray"`
	Name string
	// ID, Cluster and Addrs are as in [Member]. A host that tells of itself has no Addrs.
	ID      PeerID
	Cluster string
	Addrs   [][]byte
}

// Member returns the host as a member.
func (h *Host) Member() Member { return Member{ID: h.ID, Cluster: h.Cluster, Addrs: h.Addrs} }

func (h *Host) check() error {
	if err := CheckHost(h.Name); err != nil {
		return err
	}
	m := h.Member()
	return m.check()
}

// CheckHost reports why name cannot be the name of a host: text of 1 to [MaxHost] bytes without
// spaces or control characters.
func CheckHost(name string) error {
	if name == "" || len(name) > MaxHost {
		return fmt.Errorf("host name of %d bytes, want 1 to %d", len(name), MaxHost)
	}
	for _, r := range name {
		if r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return fmt.Errorf("host name %q: spaces and control characters may not be used", name)
		}
	}
	return nil
}
