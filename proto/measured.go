package proto

import (
	"errors"
	"fmt"
)

// Received reports the payload that a member has received. It follows an [Announce] in its stream. Trackers
// that do not know it do not read it.
type Received struct {
	_ struct{} `cbor:",toarray"`
	// Length is the length of the content, in bytes.
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

// Measured reports a member's measurements of its links to other clusters since its last announce. It follows an [Announce] in its stream, after [Received] if there is one; trackers that do not
// know it do not read it.
type Measured struct {
	_ struct{} `cbor:",toarray"`
	// Ago is the time since the end of the last window, in milliseconds.
	Ago uint32
	// Windows are the lengths of successive times, the last at the end, in milliseconds.
	Windows []uint32
	// Links are sorted by cluster. The member's cluster is not among them.
	Links []MeasuredLink
}

// MeasuredLink is the way from and to the nodes of a cluster.
type MeasuredLink struct {
	_       struct{} `cbor:",toarray"`
	Cluster string
	// RTT is the shortest round trip of a message, in microseconds, 0 if none is known.
	RTT uint32
	// Sent counts the segments with payload that went there on bulk sockets, and Lost the
	// retransmitted segments among them.
	Sent, Lost uint32
	// Bytes are the payload that came from there in each window, or nothing if none did.
	Bytes []uint32
	// Queue is the least queueing delay of messages from there in each window, in microseconds.
	Queue []uint32
}

// maxWindow bounds the length of a window, in milliseconds.
const maxWindow = 60_000

func (m *Measured) check() error {
	if len(m.Windows) > MaxWindows || len(m.Links) > MaxMeasured {
		return fmt.Errorf("%d windows of %d links, at most %d and %d", len(m.Windows), len(m.Links), MaxWindows, MaxMeasured)
	}
	for _, w := range m.Windows {
		if w == 0 || w > maxWindow {
			return fmt.Errorf("window of %d ms, want 1 to %d", w, maxWindow)
		}
	}
	for i, l := range m.Links {
		if err := CheckCluster(l.Cluster); err != nil {
			return err
		}
		if i > 0 && m.Links[i-1].Cluster >= l.Cluster {
			return errors.New("the links are not in the order of their clusters")
		}
		if n := len(l.Bytes); n != len(l.Queue) || n != 0 && n != len(m.Windows) {
			return fmt.Errorf("a link has %d and %d windows of %d", n, len(l.Queue), len(m.Windows))
		}
		if l.Lost > l.Sent {
			return fmt.Errorf("%d of %d segments were lost", l.Lost, l.Sent)
		}
	}
	return nil
}
