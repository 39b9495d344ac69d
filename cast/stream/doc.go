// Package stream sends a stream of unknown length to many nodes, which receive it in order.
//
// The [Sender] splits the stream into pieces, which the nodes fetch from each other like the pieces of a file. 8192 pieces are an
// epoch: a swarm that grows while it runs, so that sessions are opened once per GiB. A signed record announces new
// pieces. Records are chained, and the caller sends them to the receivers. A [Receiver] fetches the announced pieces, serves
// them to its neighbors, and writes the bytes to its consumer in order:
//
//	stream -> chunker -> pieces -> swarm of the epoch -> pieces -> consumer
//	             |         |                              |
//	             |       spool                          spool
//	             +-- records, by the caller -------------+
//
// Pieces are published no sooner than the sender's uplink needs them. The bytes of a slow stream are published within 0.4 s, in a
// shorter piece or, if they are few, in the record itself.
//
// # Memory and disk
//
// Each side keeps up to 128 MiB in memory. The rest goes to the spool, a file without a name and of bounded size: at the sender
// the oldest pieces that were sent, which only slow receivers need; at a receiver the newest pieces. If both are full,
// nothing more is read or fetched, so a slow consumer slows down the stream for all receivers.
//
// A record is released once every receiver has its pieces. The caller decides that, since it knows the live receivers. Pieces are
// kept for neighbors until then, or until memory is short.
//
// # Errors
//
// A stream ends with a signed record. A stream without it has failed. A record that is forged, out of order, repeated or of
// another stream fails the receiver. The consumer receives only verified bytes.
package stream
