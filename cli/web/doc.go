// Package web serves people and their tools over HTTP: the page of a node or a tracker, its
// metrics and its health. It listens where --http says, and nowhere by default.
//
// A client with the token, which the owner of the data directory may read, may make all calls of
// the control socket. The rules, by pattern:
//
//	            loopback address     other address    Unix socket
//	open        every client         every client     its owner
//	read        every client         with the token   its owner
//	change      with the token       with the token   its owner
//
// A change is each request except GET and HEAD, and each request to a handler of
// [Server.HandleOwner]. The token is sent in a header (Authorization: Bearer TOKEN), or once as
// ?token=TOKEN, which is answered with a cookie.
//
// The server rejects a request with an unknown Host, which may be a rebound name, and a request
// that a page of another origin made. Its pages have neither inline nor foreign code.
//
// A client that reads nothing for ten seconds loses its connection. Connections and streams are
// bounded, and shared among addresses.
package web
