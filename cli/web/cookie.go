package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net"
	"net/http"
	"time"
)

// cookieLife is the validity period of a cookie.
const cookieLife = 12 * time.Hour

// cookieName has the port: a browser sends the cookies of one port to all ports of a host.
func (s *Server) cookieName() string {
	_, port, _ := net.SplitHostPort(s.ln.Addr().String())
	return "mob-session-" + port
}

// newCookie returns the cookie of a client that has the token. It is not the token, and is not valid after a restart.
func (s *Server) newCookie() *http.Cookie {
	ends := time.Now().Add(cookieLife)
	value := binary.BigEndian.AppendUint64(nil, uint64(ends.Unix()))
	return &http.Cookie{
		Name:     s.cookieName(),
		Value:    base64.RawURLEncoding.EncodeToString(append(value, s.sign(value)...)),
		Path:     "/",
		Expires:  ends,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// hasCookie reports whether a request has a valid cookie.
func (s *Server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(c.Value)
	if err != nil || len(b) != 8+sha256.Size || !hmac.Equal(b[8:], s.sign(b[:8])) {
		return false
	}
	return time.Now().Before(time.Unix(int64(binary.BigEndian.Uint64(b)), 0))
}

// sign returns the HMAC of the time at which a cookie ends.
func (s *Server) sign(ends []byte) []byte {
	h := hmac.New(sha256.New, s.secret)
	h.Write(ends)
	return h.Sum(nil)
}
