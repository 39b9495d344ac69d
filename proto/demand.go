package proto

import "errors"

// Demand tells a local peer of the limit that the sender's cluster shares, of what comes over the
// WAN to all its members, and how much of it the sender needs. It is about all transfers of the
// sender. It is sent only to peers whose Hello has [FeatureDemand].
type Demand struct {
	_ struct{} `cbor:",toarray"`
	// Limit is the limit that the sender was given, in bytes per second, 0 if it has none any
	// more.
	Limit uint64
	// Rate is what the sender needs, in bytes per second: its use and a little more, or at
	// least Limit if it could use all that it may have.
	Rate uint64
}

// maxRate bounds rates, in bytes per second, so that sums of them are numbers.
const maxRate = 1e15

// Type implements [Message].
func (*Demand) Type() Type { return TypeDemand }

func (m *Demand) check() error {
	if m.Limit > maxRate || m.Rate > maxRate {
		return errors.New("rate too high")
	}
	return nil
}
