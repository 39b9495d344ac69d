package proto

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// HostsRequest sends a tracker the name of the announcer's host, and asks for other hosts of a
// planned swarm by their names. The tracker answers with [Hosts]. The sender has announced itself
// before.
type HostsRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
	// Name is the name of the sender's host.
	Name string
	// Wanted are the names of the requested hosts.
	Wanted []string
}

func (m *HostsRequest) check() error {
	return cmp.Or(checkKey(m.Swarm), CheckHost(m.Name), checkEach("hosts are wanted", m.Wanted, MaxMembers, CheckHost))
}

// Hosts lists hosts of a planned swarm: in reply to [HostsRequest], and as peer exchange
// in addition to [Members]. The first on a control stream names the sender's own host. It is sent only to
// peers whose Hello has [FeatureHosts].
type Hosts struct {
	_     struct{} `cbor:",toarray"`
	Hosts []Host
}

func (m *Hosts) check() error { return checkEach("hosts", m.Hosts, MaxMembers, Host.check) }

// Host is a member of a planned swarm with the name of its host. All of it is reported by the
// member itself, and nothing is proved.
type Host struct {
	_    struct{} `cbor:",toarray"`
	Name string
	// ID, Cluster and Addrs are as in [Member]. A host that describes itself has no Addrs.
	ID      PeerID
	Cluster string
	Addrs   [][]byte
}

// Member returns the host as a member.
func (h Host) Member() Member { return Member{ID: h.ID, Cluster: h.Cluster, Addrs: h.Addrs} }

func (h Host) check() error { return cmp.Or(CheckHost(h.Name), h.Member().check()) }

// CheckHost reports why name cannot be the name of a host: text of 1 to [MaxHost] bytes without
// spaces or control characters.
func CheckHost(name string) error {
	if name == "" || len(name) > MaxHost {
		return fmt.Errorf("host name of %d bytes, want 1 to %d", len(name), MaxHost)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsGraphic(r) }) {
		return fmt.Errorf("host name %q: spaces and control characters may not be used", name)
	}
	return nil
}
