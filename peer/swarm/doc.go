// Package swarm runs a node's part in the swarm of one content: it connects to other
// members, asks them for blocks, verifies and stores what comes, and serves what is stored.
// What to ask of whom is decided by a [mob.Strategy]; this package carries that out.
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
// The loop alone touches the strategy and the membership; everything else sends it typed
// events. Payload never passes through the loop.
//
// The package does not know the node that it runs in, nor where transfers are kept.
package swarm
