package proto

import "errors"

// Demand sends a peer of the same site the limit for the WAN traffic into it, and the part of that
// that the sender needs for all its transfers. It is sent only to peers whose Hello has
// [FeatureDemand].
type Demand struct {
	_ struct{} `cbor:",toarray"`
	// Limit is the limit configured at the sender, in bytes per second, 0 if it has none now.
	Limit uint64
	// Rate is the rate that the sender needs, in bytes per second: slightly more than its
	// use, or at least Limit if it could use all of it.
	Rate uint64
}

// maxRate bounds rates, in bytes per second, so that sums of them are numbers.
const maxRate = 1e15

func (m *Demand) check() error {
	if m.Limit > maxRate || m.Rate > maxRate {
		return errors.New("rate too high")
	}
	return nil
}
