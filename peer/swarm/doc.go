// Package swarm runs a node's part in a swarm: it connects to other members, requests blocks,
// verifies and stores them, and serves stored ones. A [mob.Strategy] decides what to request;
// this package performs its actions.
//
//	           control streams          bulk channels
//	                 |                        |
//	 session reader  |        receiver        |   server
//	 (a goroutine    |   (a goroutine per     |  (a goroutine per
//	  per peer)      |    channel): frame,    |   channel): sends
//	      |          |    write               |   requested blocks
//	      |          |        |               |
//	      | messages |        v workers: verify, commit
//	      v          |        | events
//	+----------------+--------v---------------+
//	|  loop (one per swarm): Strategy.Step    |
//	+-----------------------------------------+
//	      | actions: send, dial, drop, introduce, push, finished
//
// Only the loop uses the strategy and the membership; other goroutines send it typed
// events. Payload never passes through the loop.
//
// The package does not depend on the node or on the storage of transfers.
package swarm
