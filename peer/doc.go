// Package peer is one node: a libp2p host, its transfers, and their swarms.
//
// A [Node] owns a data folder. It seeds contents in place and gets others,
// several at once, and remembers them over restarts. What to fetch, when and
// from whom is decided by package mob; this package carries that out:
//
//	           control streams          bulk channels
//	                 |                        |
//	 session reader  |        receive         |   serve
//	 (a goroutine    |   (a goroutine per     |  (a goroutine per
//	  per peer)      |    channel): block     |   channel): stored
//	      |          |    into the store,     |   pieces, asked for
//	      | messages |    hash, verdict       |
//	      v          |          | events      |
//	+----------------+----------v-------------+
//	|  loop (one per swarm): mob.State.Step   |
//	+-----------------------------------------+
//	      | actions: send, dial, drop, introduce, finished
//
// Only the loop touches the State. Payload never passes through it.
package peer
