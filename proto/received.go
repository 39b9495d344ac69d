package proto

import (
	"errors"
	"fmt"
)

// Received says what a member has received of a content. It follows an [Announce] in its stream; trackers
// that do not know it do not read it.
type Received struct {
	_ struct{} `cbor:",toarray"`
	// Length is that of the content, in bytes.
	Length uint64
	// WAN is the payload in bytes that came from other clusters.
	WAN uint64
	// Flows are the payload by the clusters of the senders, in the order of their names.
	Flows []Flow
}

// Flow is payload from one cluster.
type Flow struct {
	_       struct{} `cbor:",toarray"`
	Cluster string
	Bytes   uint64
}

// Type implements [Message].
func (*Received) Type() Type { return TypeReceived }

func (m *Received) check() error {
	if len(m.Flows) > MaxFlows {
		return fmt.Errorf("%d flows, at most %d", len(m.Flows), MaxFlows)
	}
	for i, f := range m.Flows {
		if err := CheckCluster(f.Cluster); err != nil {
			return err
		}
		if i > 0 && m.Flows[i-1].Cluster >= f.Cluster {
			return errors.New("the flows are not in the order of their clusters")
		}
	}
	return nil
}
