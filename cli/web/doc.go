// Package web serves people and their tools over HTTP: the page of a node or a tracker, its
// metrics and its health. It listens where --http says, and nowhere by default.
//
// Whoever may read the token's file, which is the owner of the data folder, may do what the
// control socket allows. The rules, by pattern:
//
//	            loopback address     other address    Unix socket
//	open        everybody            everybody        the socket's owner
//	read        everybody            with the token   the socket's owner
//	change      with the token       with the token   the socket's owner
//
// A change is each request but GET and HEAD, and all that a handler of [Server.HandleOwner]
// answers. The token comes in a header (Authorization: Bearer TOKEN), or once as ?token=TOKEN,
// which is answered with a cookie.
//
// A browser is also a tool of the pages that it shows. So a request whose Host is a name that
// the server does not go by is refused, since its name was rebound; and so is one that another
// origin began. The page has neither inline nor foreign code.
//
// Each answer may be cut off: a client that reads nothing for ten seconds loses its connection.
// Connections and streams are bounded, and shared among addresses.
package web
