package proto

import "fmt"

// HostsRequest tells a tracker the name of the announcer's host, and asks for other hosts of a
// planned swarm by their names. The tracker answers with [Hosts]. The sender has announced itself
// before.
type HostsRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
	// Name is that of the sender's host.
	Name string
	// Wanted are the names of the hosts that it looks for.
	Wanted []string
}

// Type implements [Message].
func (*HostsRequest) Type() Type { return TypeHostsRequest }

func (m *HostsRequest) check() error {
	if err := checkKey(m.Swarm); err != nil {
		return err
	}
	if err := CheckHost(m.Name); err != nil {
		return err
	}
	if len(m.Wanted) > MaxMembers {
		return fmt.Errorf("%d hosts are wanted, at most %d", len(m.Wanted), MaxMembers)
	}
	for _, name := range m.Wanted {
		if err := CheckHost(name); err != nil {
			return err
		}
	}
	return nil
}

// Hosts tells of hosts of a planned swarm: in reply to [HostsRequest], and as peer exchange
// besides [Members]. The first on a control stream names the sender's own host. It is sent only to
// peers whose Hello has [FeatureHosts].
type Hosts struct {
	_     struct{} `cbor:",toarray"`
	Hosts []Host
}

// Type implements [Message].
func (*Hosts) Type() Type { return TypeHosts }

func (m *Hosts) check() error {
	if len(m.Hosts) > MaxMembers {
		return fmt.Errorf("%d hosts, at most %d", len(m.Hosts), MaxMembers)
	}
	for i := range m.Hosts {
		if err := m.Hosts[i].check(); err != nil {
			return err
		}
	}
	return nil
}
