package control

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// callerKey is the key of the caller in the context of a connection of the socket.
type callerKey struct{}

// withCaller records the user at the other end of a connection of [callers].
func withCaller(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, callerKey{}, c.(*callerConn).user)
}

// maxUserConns bounds the connections of users other than the owner of the daemon: content and peers need files, too. One user may
// have as many as are free.
const maxUserConns = 512

// callers accepts the connections of the socket.
type callers struct {
	net.Listener
	conns *quota.Shared[uint32] // of users other than the owner
}

// Accept implements [net.Listener]. It closes connections of users that have their share, or are unknown.
func (l *callers) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		u, err := credentials(c)
		release, ok := func() {}, err == nil
		if ok && !isOwner(u) {
			release, ok = l.conns.Take(u.UID)
		}
		if ok {
			return &callerConn{c.(*net.UnixConn), u, release}, nil
		}
		c.Close()
	}
}

// callerConn is a connection of a user.
type callerConn struct {
	*net.UnixConn
	user    *vfs.User
	release func()
}

// Close implements [net.Conn].
func (c *callerConn) Close() error {
	c.release()
	return c.UnixConn.Close()
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

const (
	// bodyPart is the size of the parts of requests that are counted, and maxBodyParts bounds the parts of incomplete requests of users
	// other than the owner: one user may have one request of any length.
	bodyPart     = 64 << 10
	maxBodyParts = 2 * (maxRequest/bodyPart + 1)
)

var errBodies = errors.New("too many long requests of this user at a time: try again")

// userBody is the body of a request of a user other than the owner. What is read of it counts until release.
type userBody struct {
	io.ReadCloser
	take  func() (release func(), ok bool)
	left  int // of the last part
	parts []func()
}

// Read implements [io.Reader].
func (b *userBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		release, ok := b.take()
		if !ok {
			return 0, errBodies
		}
		b.parts, b.left = append(b.parts, release), bodyPart
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (b *userBody) release() {
	for _, release := range b.parts {
		release()
	}
}

// guard answers only calls that their caller may make.
func guard(mux *http.ServeMux) http.Handler {
	parts := quota.NewShared[uint32](maxBodyParts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, known := r.Context().Value(callerKey{}).(*vfs.User)
		if _, pattern := mux.Handler(r); !known || caller(r) != nil && pattern != "" && !slices.Contains(forUsers, pattern) {
			call(func(*http.Request) (any, error) {
				return nil, &Error{CodeDenied, "that is for the owner of the daemon: run the command as that user"}
			}).serve(w, r)
			return
		}
		if u := caller(r); u != nil {
			r.Body = &userBody{ReadCloser: r.Body, take: func() (func(), bool) { return parts.Take(u.UID) }}
		}
		mux.ServeHTTP(w, r)
	})
}

// caller returns the user who makes a call, nil for the owner and root, who may make all calls, and
// for calls through [Server.Handler].
func caller(r *http.Request) *vfs.User {
	u, _ := r.Context().Value(callerKey{}).(*vfs.User)
	if u == nil || isOwner(u) {
		return nil
	}
	return u
}

func isOwner(u *vfs.User) bool { return u.UID == 0 || u.UID == uint32(os.Geteuid()) }

// find returns the transfer of that name, if it is for the caller.
func (s *Server) find(r *http.Request, name string) (*peer.Transfer, error) {
	return s.cfg.Node.TransferFor(caller(r), name)
}

// credentials returns the user at the other end of a Unix socket, as it was when the connection was made.
func credentials(c net.Conn) (u *vfs.User, err error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.New("no Unix socket")
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { u, failed = peerUser(fd) })
	return u, errors.Join(err, failed)
}
