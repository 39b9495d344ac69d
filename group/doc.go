// Package group keeps sessions between nodes before there is data to send, so that a small message needs no
// handshake.
//
// A [Group] is a key without content. Its members find each other by trackers, as the members of a swarm do, and keep
// a stream to every member of their cluster, to fewer in one of more than 128, and to up to 8 members of each other cluster:
//
//	g, err := group.Join(ctx, node, group.Config{Key: key})
//	err = g.Cast(ctx, []byte("hello"))
//	m, err := g.Receive(ctx)
//
// Cast sends a message into each cluster once: it cuts the message into parts, sends each part to a different member,
// and every member forwards its part within its cluster. Messages of one sender arrive once and in order: those that it
// cast, and those that it sent to this node. A member that loses the session to a sender may miss messages of that
// sender. Messages have at most 1 MiB; larger content is for swarms.
//
// All methods may be called from any goroutine. Outside a network (see package membership) every node that has the
// key can join and send.
package group
