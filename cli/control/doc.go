// Package control implements the API between commands and the daemon of a data directory:
// HTTP/1.1 and JSON over a Unix socket in that directory. The owner of the daemon and
// root may make all calls. Another user who may write to the socket sees and changes only
// transfers that this user started, with files that the user may access.
//
//	GET  /v1/node                     Info
//	GET  /v1/transfers                list of peer.Status
//	GET  /v1/transfer?name=NAME       peer.Status
//	POST /v1/seed      SeedRequest    stream: hashed..., then the status and the skipped paths
//	POST /v1/get       GetRequest     stream: status..., the last one complete
//	POST /v1/pipe      SeedRequest    followed by the content; stream as of seed
//	POST /v1/content   GetRequest     the bytes of the content; the last Event is a trailer
//	POST /v1/export    NameRequest    Event with the info dictionary and the status
//	POST /v1/verify    NameRequest    stream: hashed..., then the result and the status
//	POST /v1/stop      NameRequest
//	POST /v1/remove    NameRequest    Removal
//	POST /v1/describe  LinkRequest    stream: waiting..., then the manifest or the info dictionary
//	POST /v1/fleet     LinkRequest    proto.Scrape
//	POST /v1/topology  LinkRequest    Topology
//	GET  /v1/limit                    Limits
//	POST /v1/limit     LimitRequest   Limits
//	GET  /v1/feeds                    list of feed.Info
//	POST /v1/feed/new|post|follow|remove
//
// NAME is the content id, link or path of a transfer. A stream has a JSON
// [Event] per line, two in a second. The last one is Done or has an Error. A
// client reports a hung daemon when its stream is silent for 20 s. A client that
// leaves does not end a get to a path that has started: only a stop does. Both sides
// ignore unknown fields, so a command and a daemon may have different versions.
//
// The server has no lock and answers each call in a goroutine, so a call that waits
// for a disk or a network does not delay another call.
package control
