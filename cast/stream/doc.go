// Package stream sends a stream of unknown length to many nodes, which get it in order.
//
// The [Sender] cuts the stream into pieces, which many nodes fetch of each other as they do those of a file.
// Every 8192 pieces are an epoch, a content of its own that grows while its swarm runs, so sessions are set
// up once in a GiB. A signed record says which pieces have come into being: records are chained, and reach
// the receivers by a way of the caller's. A [Receiver] fetches what the records name, serves what it has to
// its neighbours, and hands the bytes to its consumer in order:
//
//	stream -> chunker -> pieces -> swarm of the epoch -> pieces -> consumer
//	             |         |                              |
//	             |       spool                          spool
//	             +-- records, by the caller -------------+
//
// Pieces are published no sooner than the sender's uplink needs them. What comes of a slow stream in a
// quarter of a second is a shorter piece, and a little of it travels in the record. So a slow stream is not
// held up, and a fast one costs little beyond its bytes.
//
// # Memory and disk
//
// Each side keeps up to 128 MiB in memory. What does not fit goes to a file without a name, up to a
// bound: at the sender the oldest pieces that have left it once, which only slow receivers lack, at a
// receiver the newest ones, which its consumer is far from. Then nothing more is read, or fetched. So a
// consumer that is too slow for long holds the stream back, for everybody.
//
// A record is released once every receiver has its pieces. The caller decides that, since it knows who is
// alive. Pieces are kept for neighbours until then, or until memory is short.
//
// # Errors
//
// A stream ends with a signed record. One that just stops has failed, whatever came before. A record
// that is false, out of order, repeated or of another stream fails the receiver. Bytes that the consumer
// gets are verified.
package stream
