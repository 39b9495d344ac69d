// Package control is how commands talk to the daemon of a data folder: HTTP/1.1
// and JSON over a Unix socket in that folder. Whoever may write to the socket,
// the owner of the folder alone, may do all that the daemon can.
//
//	GET  /v1/node                     Info
//	GET  /v1/transfers                list of peer.Status
//	GET  /v1/transfer?name=NAME       peer.Status
//	POST /v1/seed      SeedRequest    stream: hashed..., then the status
//	POST /v1/get       GetRequest     stream: status..., the last one whole
//	POST /v1/stop      NameRequest
//	POST /v1/remove    NameRequest
//	POST /v1/describe  LinkRequest    stream: waiting..., then the manifest or the info dictionary
//	POST /v1/fleet     LinkRequest    Fleet
//
// NAME is a content id, a link, or the path of a content. A stream is a JSON
// [Event] per line, several in a second, the last of which is Done or has an
// Error; a stream that falls silent comes from a daemon in trouble. Ending a
// get's stream does not end the transfer: that takes a stop.
//
// The package decides nothing about transfers; package peer does.
package control
