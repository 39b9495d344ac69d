package web

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// policy lets a page use what its own server serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// rejection is the status and text of a request that is not answered.
type rejection struct {
	status int
	text   string
}

func (r *rejection) write(w http.ResponseWriter) {
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, r.text, r.status)
}

// check rejects requests without the right, or from a page of another origin.
func (s *Server) check(r *http.Request, owner bool) *rejection {
	if !s.knows(r.Host) {
		return &rejection{http.StatusMisdirectedRequest,
			"this server does not go by the name in the request's Host: give it with --http-host if it should"}
	}
	if err := s.crossSite.Check(r); err != nil || foreign(r) {
		return &rejection{http.StatusForbidden, "the request is from another origin"}
	}
	if s.allows(r, owner) {
		return nil
	}
	return &rejection{http.StatusUnauthorized, "this needs the token, which is in " + tokenFile + " in the data directory, or tracker/ there," +
		" or in the file of --http-token-file: open the page with ?token=TOKEN once"}
}

// allows reports whether a request has the token, or needs none.
func (s *Server) allows(r *http.Request, owner bool) bool {
	return !owner && safe(r.Method) && s.addr.loopback() || s.owned(r)
}

// owned reports whether a request has the token, or a cookie that was made for it.
func (s *Server) owned(r *http.Request) bool {
	if s.addr.unix() {
		return true
	}
	if text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.token.is(text)
	}
	return s.hasCookie(r)
}

// safe reports whether a method only reads.
func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// foreign reports whether a page of another origin made the request, by the headers of the browser. A URL
// that the user typed or followed is not foreign.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return !safe(r.Method) || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// knows reports whether a request's Host is a name of the server, or any address: a rebound name is not an address.
func (s *Server) knows(host string) bool {
	name := hostname(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return s.hosts[name]
}

// allowedHosts returns the names of a server.
func allowedHosts(a address, more []string) map[string]bool {
	machine, _ := os.Hostname()
	hosts := map[string]bool{}
	for _, name := range append([]string{"localhost", machine, a.host}, more...) {
		hosts[hostname(name)] = true
	}
	delete(hosts, "")
	return hosts
}

// hostname is a Host without port and brackets, in the one form that names are compared in.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// welcome answers a request with ?token= by a cookie and the same page without it, so that the token stays in no history.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if !query.Has("token") || r.Method != http.MethodGet || !s.knows(r.Host) {
		return false
	}
	if !s.token.is(query.Get("token")) {
		(&rejection{http.StatusUnauthorized, "this is not the token"}).write(w)
		return true
	}
	http.SetCookie(w, s.newCookie())
	query.Del("token")
	to := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/")
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return true
}
