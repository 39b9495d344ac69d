package bittorrent

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/anacrolix/torrent/bencode"
	"github.com/anacrolix/torrent/types/infohash"
)

// maxHeader bounds the header of a request with its query, in bytes.
const maxHeader = 8 << 10

// newHTTP returns the HTTP server of s. It closes connections after the reply: a client
// announces again in minutes, and idle connections cost memory.
func (s *Server) newHTTP() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /announce", s.httpAnnounce)
	mux.HandleFunc("GET /scrape", s.httpScrape)
	h := &http.Server{
		ConnState:      s.countConn,
		Handler:        mux,
		ReadTimeout:    s.cfg.Timeout,
		WriteTimeout:   s.cfg.Timeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
	}
	h.SetKeepAlivesEnabled(false)
	return h
}

// countConn makes Close wait for the connections, which net/http does not.
func (s *Server) countConn(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.serving.Add(1) // by a goroutine that is itself counted
	case http.StateClosed:
		s.serving.Done()
	}
}

func (s *Server) httpAnnounce(w http.ResponseWriter, r *http.Request) {
	a, err := parseAnnounce(r.URL.RawQuery, r.RemoteAddr)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.counts.requests.Add(1)
	reply, err := s.announce(a)
	if err != nil {
		s.counts.rejected.Add(1)
		s.fail(w, r, err)
		return
	}
	s.reply(w, r, reply)
}

// scrapeReply is the dictionary of BEP 48, without torrents that are not known.
type scrapeReply struct {
	Files map[string]Counts `bencode:"files"`
}

func (s *Server) httpScrape(w http.ResponseWriter, r *http.Request) {
	hashes, err := parseScrape(r.URL.RawQuery)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply := scrapeReply{Files: make(map[string]Counts, len(hashes))}
	for _, hash := range hashes {
		if c, in := s.scrape(hash.AsString()); in != nil {
			reply.Files[hash.AsString()] = c
		}
	}
	s.reply(w, r, reply)
}

// fail replies with an error. The status is 200: with another, clients do not read the
// reason.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, reason error) {
	s.cfg.Log.Debug("request rejected", "from", r.RemoteAddr, "reason", reason)
	s.reply(w, r, map[string]string{"failure reason": reason.Error()})
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request, v any) {
	b, err := bencode.Marshal(v)
	if err == nil {
		w.Header().Set("Content-Type", "text/plain")
		_, err = w.Write(b)
	}
	if err != nil {
		s.cfg.Log.Debug("reply not sent", "from", r.RemoteAddr, "error", err)
	}
}

// listen listens at ADDR:PORT. Without ADDR, or at [::], it listens on IPv4 and IPv6.
func listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		return net.Listen("tcp4", addr)
	}
	return net.Listen("tcp", addr)
}

func remoteIP(remote string) (netip.Addr, error) {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}, errors.New("your address is not an IP address")
	}
	return plain(from.Addr()), nil
}

// plain is the form of an address in the table: without zone, IPv4 as such.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parseAnnounce parses the query of an announce from a remote ADDR:PORT. It ignores the fields
// that the tracker does not use.
func parseAnnounce(query, remote string) (*announce, error) {
	from, err := remoteIP(remote)
	if err != nil {
		return nil, err
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the query is malformed")
	}
	a := &announce{event: q.Get("event")}
	if a.hash, err = parseHash(q.Get("info_hash")); err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(q.Get("port"), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port is %q, not a port number", q.Get("port"))
	}
	a.addr = netip.AddrPortFrom(from, uint16(port))
	if a.left, err = parseNumber(q, "left"); err != nil {
		return nil, err
	}
	if a.numWant, err = parseNumber(q, "numwant"); err != nil {
		return nil, err
	}
	return a, nil
}

// parseNumber parses an optional number, -1 when it is missing. One out of range is
// clipped.
func parseNumber(q url.Values, name string) (int64, error) {
	if !q.Has(name) {
		return -1, nil
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is %q, not a number", name, q.Get(name))
	}
	return n, nil
}

// maxScrape bounds the torrents of a scrape: as many as by UDP (BEP 15).
const maxScrape = 74

func parseScrape(query string) ([]infohash.T, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the query is malformed")
	}
	texts := q["info_hash"]
	if len(texts) == 0 {
		return nil, errors.New("info_hash is missing: a scrape of all torrents is not supported")
	}
	if len(texts) > maxScrape {
		return nil, fmt.Errorf("scrape of %d torrents, at most %d", len(texts), maxScrape)
	}
	hashes := make([]infohash.T, len(texts))
	for i, text := range texts {
		if hashes[i], err = parseHash(text); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

func parseHash(text string) (hash infohash.T, err error) {
	if len(text) != len(hash) {
		return hash, fmt.Errorf("info_hash has %d bytes, not %d", len(text), len(hash))
	}
	copy(hash[:], text)
	return hash, nil
}
