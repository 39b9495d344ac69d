// Package quota divides a bounded table among those who fill it: the connections of a host
// among addresses, the members that a node hears of among those who tell.
//
// Whoever fills a table may hold as many of its slots as are free. So one alone gets half of
// the table, and of k who take what they can get each gets the same, 1/(k+1), which leaves as
// much for others. That is the dynamic threshold of Choudhury and Hahne, by which the ports of
// a switch share its buffer (IEEE/ACM Transactions on Networking, 1998). Nobody is evicted,
// and nobody who comes late finds the table full.
package quota

import "net/netip"

// Quota counts the slots of a table by their holders. It is not safe for concurrent use.
type Quota[K comparable] struct {
	size int
	used int
	held map[K]int
}

// New returns the quota of an empty table of size slots.
func New[K comparable](size int) *Quota[K] { return &Quota[K]{size: size, held: map[K]int{}} }

// Take takes a slot for k, and reports whether k may have it.
func (q *Quota[K]) Take(k K) bool {
	if q.held[k] >= q.size-q.used {
		return false
	}
	q.Grant(k)
	return true
}

// Grant takes a slot for k whatever k holds, such as one that was released for it.
func (q *Quota[K]) Grant(k K) {
	q.held[k]++
	q.used++
}

// Release frees a slot of k. It panics if k has none.
func (q *Quota[K]) Release(k K) {
	if q.held[k] == 0 {
		panic("quota: release of a slot that is not held")
	}
	q.held[k]--
	q.used--
	if q.held[k] == 0 {
		delete(q.held, k)
	}
}

// Used returns the number of slots that are held.
func (q *Quota[K]) Used() int { return q.used }

// Host returns the address that an address counts for: itself, or its /64 in IPv6, or its /8 if it
// is a loopback address. One machine may use all addresses in them.
func Host(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	} else if a.IsLoopback() {
		bits = 8
	}
	p, _ := a.Prefix(bits) // fails only if the address is invalid
	return p.Addr()
}
