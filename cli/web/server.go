package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/mobgrid/mob/mob/quota"
)

// Bounds of a server.
const (
	maxConns   = 512
	maxStreams = 64
	maxHeader  = 16 << 10 // bytes
	maxBody    = 1 << 20  // bytes

	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second // of a request
	writeTimeout  = 10 * time.Second
	idleTimeout   = time.Minute
)

// Config configures a Server.
type Config struct {
	// Listen is ADDR:PORT or unix:PATH.
	Listen string
	// Hosts are names of the server in addition to loopback, its address and the machine's name.
	Hosts []string
	// TokenFile has the token. If it is empty, Data has a file http-token, which is made.
	TokenFile string
	// Data is the data directory.
	Data string
	// Log receives rejected requests at level debug. Nil means no log.
	Log *slog.Logger
}

// Server answers requests to the patterns that were handed to it. Its methods may be called from any goroutine.
type Server struct {
	cfg       Config
	addr      address
	ln        net.Listener
	token     token
	secret    []byte // of this start, for cookies
	hosts     map[string]bool
	mux       *http.ServeMux
	open      *http.ServeMux // patterns without a token
	crossSite *http.CrossOriginProtection
	http      *http.Server

	streams *quota.Shared[netip.Addr]

	every        time.Duration // between two events of a stream
	writeTimeout time.Duration // of one write, however long the answer

	closing chan struct{} // closed by Close: streams end
	close   func()
}

// Listen opens the socket, and makes the token's file if there is none. [Server.Serve] answers.
func Listen(cfg Config) (_ *Server, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		cfg:       cfg,
		mux:       http.NewServeMux(),
		open:      http.NewServeMux(),
		crossSite: http.NewCrossOriginProtection(),
		secret:    make([]byte, 32),
		streams:   quota.NewShared[netip.Addr](maxStreams),
		closing:   make(chan struct{}),

		every:        eventEvery,
		writeTimeout: writeTimeout,
	}
	_, _ = rand.Read(s.secret) // never fails
	s.close = sync.OnceFunc(func() { close(s.closing) })
	s.addr, err = parseAddress(cfg.Listen)
	if err != nil {
		return nil, err
	}
	if !s.addr.unix() {
		if s.token, err = loadToken(cfg.TokenFile, cfg.Data); err != nil {
			return nil, err
		}
	}
	s.ln, err = listen(s.addr)
	if err != nil {
		return nil, err
	}
	s.hosts = allowedHosts(s.addr, cfg.Hosts)
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		ConnContext:       limitBuffer,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Handle answers requests that match a pattern of [http.ServeMux]. A GET needs the token unless
// the server listens on loopback or a Unix socket; another method always does, unless on a Unix
// socket.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// HandleOwner answers requests that match a pattern. They need the token, unless on a Unix socket.
func (s *Server) HandleOwner(pattern string, h http.Handler) {
	s.mux.Handle(pattern, ownerOnly{h})
}

// HandleOpen answers requests that match a pattern, without a token and with any Host. h must only read,
// and its answer must be public.
func (s *Server) HandleOpen(pattern string, h http.Handler) { s.open.Handle(pattern, h) }

// Start answers clients with the handlers that register adds, until [Server.Close]. A nil server has no clients.
func (s *Server) Start(register func(*Server)) {
	if s == nil {
		return
	}
	register(s)
	go func() {
		if err := s.Serve(); err != nil {
			s.cfg.Log.Error("the page ended", "error", err)
		}
	}()
}

// Serve answers clients, and blocks until [Server.Close].
func (s *Server) Serve() error {
	if err := s.http.Serve(quota.Limit(s.ln, quota.NewShared[netip.Addr](maxConns))); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the streams, waits up to a second for running answers, and closes the socket.
// Without a Serve before it, it only closes the socket, and nothing if the server is nil.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	s.close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	if e := s.ln.Close(); !errors.Is(e, net.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// URL is the address of the page, without the token. It is the path of a Unix socket.
func (s *Server) URL() string {
	if s.addr.unix() {
		return s.cfg.Listen
	}
	return "http://" + s.ln.Addr().String() + "/"
}

// TokenFile is the path of the token file, empty on a Unix socket.
func (s *Server) TokenFile() string { return s.token.file }

// ownerOnly marks a handler that only the owner may call.
type ownerOnly struct{ http.Handler }

// serve checks a request and calls its handler.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	w = s.deadlines(w)
	if h, pattern := s.open.Handler(r); pattern != "" {
		h.ServeHTTP(w, r)
		return
	}
	h, pattern := s.mux.Handler(r)
	_, owner := h.(ownerOnly)
	if s.welcome(w, r) {
		return
	}
	if refused := s.check(r, owner); refused != nil {
		s.cfg.Log.Debug("http request rejected", "remote", r.RemoteAddr, "path", r.URL.Path, "reason", refused.text)
		refused.write(w)
		return
	}
	if pattern == "" {
		http.NotFound(w, r)
		return
	}
	if err := readBody(w, r); err != nil {
		http.Error(w, "the request's body cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mux.ServeHTTP(w, r) // not h, which does not have the pattern's wildcards
}

// readBody reads a request's body within the read timeout, and then ends the timeout: the handler may take
// longer. A GET may come without the token, and no handler uses its body.
func readBody(w http.ResponseWriter, r *http.Request) error {
	most := int64(maxBody)
	if safe(r.Method) {
		most = maxHeader
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// deadlineWriter sets a deadline for each write.
type deadlineWriter struct {
	http.ResponseWriter
	timeout time.Duration
}

func (s *Server) deadlines(w http.ResponseWriter) *deadlineWriter {
	d := &deadlineWriter{w, s.writeTimeout}
	d.restart() // for an empty answer
	return d
}

func (w *deadlineWriter) restart() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.timeout))
}

// Write implements [http.ResponseWriter].
func (w *deadlineWriter) Write(b []byte) (int, error) {
	w.restart()
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// remoteHost returns the address that a request is charged to, the zero address for all Unix sockets.
func remoteHost(addr string) netip.Addr {
	a, _ := netip.ParseAddrPort(addr)
	return quota.Host(a.Addr())
}
