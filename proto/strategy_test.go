package proto

import "testing"

func TestStrategyNames(t *testing.T) {
	for s := ReceiverDriven; s < strategies; s++ {
		if got, err := ParseStrategy(s.String()); err != nil || got != s || s.Gossip() != (s != ReceiverDriven) {
			t.Errorf("%d is %q, which is %d, %v", s, s, got, err)
		}
	}
	_, err := ParseStrategy("chain")
	checkError(t, err, "want one of permutation, overlap1, overlap2, rb")
}
