package group

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

const (
	// maxRelays bounds the members of a cluster among which a message is scattered, and the members of another cluster
	// that a node dials.
	maxRelays = 8
	// leastPart is about the least size of a part, in bytes, unless there is only one.
	leastPart = 4 << 10
	// maxDense is the number of members of a cluster, by rank, that relays forward to. The remaining members each get all
	// parts from maxDense / spread of them.
	maxDense = 128
	spread   = 32
	// maxSessions bounds the sessions of a node.
	maxSessions = 256
)

// keyID returns the id under which the members of a group announce themselves.
func keyID(key [32]byte) cid.Cid {
	sum := sha256.Sum256(append([]byte("mob-group:"), key[:]...))
	return proto.ManifestCID(sum[:])
}

// cut cuts a message for a cluster of members into parts that are equally long within a byte. The parcels have the other fields of p.
func cut(p proto.Parcel, b []byte, members int) Parcels {
	n := max(1, min(members, maxRelays, len(b)/leastPart), (len(b)+proto.MaxParcel-1)/proto.MaxParcel)
	all := make(Parcels, n)
	for i := range all {
		all[i] = p
		all[i].Part, all[i].Parts, all[i].Payload = uint16(i), uint16(n), b[i*len(b)/n:(i+1)*len(b)/n]
	}
	return all
}

// forwards returns the receivers of a part of sender from the member self, in a sorted cluster. A relay
// received the part with the flag.
func forwards(cluster []proto.PeerID, self, sender proto.PeerID, relay bool) (to []proto.PeerID) {
	rank, _ := slices.BinarySearch(cluster, self)
	for x, id := range cluster {
		dense := x < maxDense && relay
		sparse := x >= maxDense && rank < maxDense && (x-rank)%spread == 0
		if (dense || sparse) && id != self && id != sender {
			to = append(to, id)
		}
	}
	return to
}

// wanted returns the members that self keeps sessions with, from sorted clusters that include self: its neighbors in
// forwards, and up to maxRelays members of each other cluster, beginning with different ones for different ranks.
func wanted(clusters map[string][]proto.PeerID, own string, self proto.PeerID) (ids []proto.PeerID) {
	local := clusters[own]
	rank, _ := slices.BinarySearch(local, self)
	for x, id := range local {
		low, high := min(x, rank), max(x, rank)
		if id != self && (high < maxDense || low < maxDense && (high-low)%spread == 0) {
			ids = append(ids, id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		far := clusters[name]
		if name == own {
			continue
		}
		for k := range min(len(far), maxRelays) {
			ids = append(ids, far[(rank*maxRelays+k)%len(far)])
		}
	}
	return ids[:min(len(ids), maxSessions)]
}
