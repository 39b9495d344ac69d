package control

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// callerKey is the key of the caller in the context of a connection of the socket.
type callerKey struct{}

// withCaller records the user at the other end of a connection.
func withCaller(ctx context.Context, c net.Conn) context.Context {
	u, err := credentials(c)
	if err != nil {
		return ctx // without a caller
	}
	return context.WithValue(ctx, callerKey{}, u)
}

// forUsers are the calls for users other than the owner of the daemon. Each of them
// shows and changes only the transfers that its caller started. All other calls are the owner's.
//
//nolint:gochecknoglobals // constant
var forUsers = []string{
	"GET /v1/node", "GET /v1/transfers", "GET /v1/transfer", "GET /v1/limit",
	"POST /v1/seed", "POST /v1/get", "POST /v1/stop", "POST /v1/remove", "POST /v1/verify", "POST /v1/export",
	"POST /v1/describe", "POST /v1/fleet",
}

// guard answers only calls that their caller may make.
func guard(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, known := r.Context().Value(callerKey{}).(*vfs.User)
		if _, pattern := mux.Handler(r); !known || caller(r) != nil && pattern != "" && !slices.Contains(forUsers, pattern) {
			call(func(*http.Request) (any, error) {
				return nil, &Error{CodeDenied, "that is for the owner of the daemon: run the command as that user"}
			}).serve(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// caller returns the user who makes a call, nil for the owner and root, who may make all calls, and
// for calls through [Server.Handler].
func caller(r *http.Request) *vfs.User {
	u, _ := r.Context().Value(callerKey{}).(*vfs.User)
	if u == nil || u.UID == 0 || u.UID == uint32(os.Geteuid()) {
		return nil
	}
	return u
}

// find returns the transfer of that name, if it is for the caller.
func (s *Server) find(r *http.Request, name string) (*peer.Transfer, error) {
	return s.cfg.Node.TransferFor(caller(r), name)
}
