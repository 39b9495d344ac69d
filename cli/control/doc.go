// Package control is the API between commands and the daemon of a data folder:
// HTTP/1.1 and JSON over a Unix socket in that folder. The owner of the daemon and
// root may do all that it can. Who else may write to the socket sees and changes only the
// transfers that it began, with files that it may use itself.
//
//	GET  /v1/node                     Info
//	GET  /v1/transfers                list of peer.Status
//	GET  /v1/transfer?name=NAME       peer.Status
//	POST /v1/seed      SeedRequest    stream: hashed..., then the status, and what was left out
//	POST /v1/get       GetRequest     stream: status..., the last one whole
//	POST /v1/export    ExportRequest  Event with the info dictionary and the status
//	POST /v1/verify    VerifyRequest  stream: hashed..., then what was found and the status
//	POST /v1/stop      NameRequest
//	POST /v1/remove    NameRequest    Removal
//	POST /v1/describe  LinkRequest    stream: waiting..., then the manifest or the info dictionary
//	POST /v1/fleet     LinkRequest    Fleet
//	POST /v1/topology  LinkRequest    Topology
//	GET  /v1/limit                    Limits
//	POST /v1/limit     LimitRequest   Limits
//
// NAME is a content id, a link, or the path of a content. A stream has a JSON
// [Event] per line, two in a second. The last one is Done or has an Error. A
// client takes the daemon for hung when its stream falls silent. A client that
// leaves does not end a get: that takes a stop. Both sides ignore fields that they do
// not know, so that a command and a daemon of different versions understand each other.
//
// The server holds no lock of its own and answers each call in a goroutine, so a
// call that waits for a disk or a network delays no other.
package control
