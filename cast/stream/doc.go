// Package stream sends a stream of unknown length to many nodes, which get it in order.
//
// The [Sender] cuts the stream into segments. Each is a content of its own, with its own manifest and
// swarm, in memory at both ends. A signed record describes it: records are chained, and reach the
// receivers by a way of the caller's. A [Receiver] fetches several segments at once, serves what it has
// to its neighbours, and hands the bytes to its consumer in order:
//
//	stream -> cutter -> segments -> swarms -> segments -> consumer
//	             |         |                     |
//	             |       spool                 spool
//	             +-- records, by the caller -----+
//
// A segment is what comes in half a second, or what the sender's uplink takes in that time if that is
// less. So a slow stream is not held up, and a fast one costs little beyond its bytes.
//
// # Memory and disk
//
// Each side keeps up to 128 MiB in memory. What does not fit goes to a file without a name, up to a
// bound: at the sender the oldest segments that have left it once, which only slow receivers lack, at a
// receiver the newest ones, which its consumer is far from. Then nothing more is read, or fetched. So a
// consumer that is too slow for long holds the stream back, for everybody.
//
// A segment is released once every receiver has it. The caller decides that, since it knows who is alive.
//
// # Errors
//
// A stream ends with a signed record. One that just stops has failed, whatever came before. A record
// that is false, out of order, repeated or of another stream fails the receiver. Bytes that the consumer
// gets are verified.
package stream
