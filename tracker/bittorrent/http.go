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
	"time"

	"github.com/anacrolix/torrent/bencode"
	"github.com/anacrolix/torrent/types/infohash"
)

// Limits of an HTTP request.
const (
	httpTimeout = 10 * time.Second
	maxHeader   = 8 << 10 // bytes, with the query
)

// newHTTP is the HTTP side of a tracker. Connections end with their answer: a
// client comes back in minutes, and those that wait cost memory.
func (s *Server) newHTTP() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /announce", s.httpAnnounce)
	mux.HandleFunc("GET /scrape", s.httpScrape)
	h := &http.Server{
		ConnState:      s.count,
		Handler:        mux,
		ReadTimeout:    httpTimeout,
		WriteTimeout:   httpTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
	}
	h.SetKeepAlivesEnabled(false)
	return h
}

// count has Close wait for the connections, which net/http does not.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.serving.Add(1) // by a goroutine that is itself counted
	case http.StateClosed:
		s.serving.Done()
	}
}

// announceReply is the dictionary of BEP 3. Peers are compact whatever the client
// asks for, as BEP 23 allows.
type announceReply struct {
	Complete   int    `bencode:"complete"`
	Downloaded int    `bencode:"downloaded"`
	ExternalIP []byte `bencode:"external ip"`
	Incomplete int    `bencode:"incomplete"`
	Interval   int64  `bencode:"interval"` // seconds
	Peers      []byte `bencode:"peers"`
	Peers6     []byte `bencode:"peers6,omitempty"`
}

func (s *Server) httpAnnounce(w http.ResponseWriter, r *http.Request) {
	from, err := source(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	a, err := parseAnnounce(r.URL.RawQuery, from)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out, err := s.announce(a)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.reply(w, r, announceReply{
		Complete:   out.whole,
		Downloaded: out.downloads,
		ExternalIP: from.AsSlice(),
		Incomplete: out.partial,
		Interval:   seconds(out.interval),
		Peers:      appendCompact([]byte{}, out.peers4),
		Peers6:     appendCompact(nil, out.peers6),
	})
}

// scrapeReply is the dictionary of BEP 48. Torrents that are not known are not in
// it.
type scrapeReply struct {
	Files map[string]scrapeFile `bencode:"files"`
}

type scrapeFile struct {
	Complete   int `bencode:"complete"`
	Downloaded int `bencode:"downloaded"`
	Incomplete int `bencode:"incomplete"`
}

func (s *Server) httpScrape(w http.ResponseWriter, r *http.Request) {
	hashes, err := parseScrape(r.URL.RawQuery)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply := scrapeReply{Files: make(map[string]scrapeFile, len(hashes))}
	for _, hash := range hashes {
		if c, known := s.scrape(hash); known {
			reply.Files[hash.AsString()] = scrapeFile{Complete: c.whole, Downloaded: c.downloads, Incomplete: c.partial}
		}
	}
	s.reply(w, r, reply)
}

// fail says why not. The status is 200, or clients do not look for the reason.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, reason error) {
	s.cfg.Log.Debug("request refused", "from", r.RemoteAddr, "reason", reason)
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

// source is the address that a request came from.
func source(r *http.Request) (netip.Addr, error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, errors.New("your address is not an IP address")
	}
	return plain(from.Addr()), nil
}

// plain is an address as the table knows it: without zone, IPv4 as such.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parseAnnounce reads the query of an announce that came from an address. What a
// tracker has no use for is not looked at.
func parseAnnounce(query string, from netip.Addr) (*announce, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the query is malformed")
	}
	a := &announce{both: true}
	if a.hash, err = parseHash(q.Get("info_hash")); err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(q.Get("port"), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port is %q, no port number", q.Get("port"))
	}
	a.addr = netip.AddrPortFrom(from, uint16(port))
	if a.left, err = parseNumber(q, "left"); err != nil {
		return nil, err
	}
	if a.want, err = parseNumber(q, "numwant"); err != nil {
		return nil, err
	}
	switch q.Get("event") {
	case "started":
		a.event = started
	case "stopped":
		a.event = stopped
	case "completed":
		a.event = completed
	}
	return a, nil
}

// parseNumber reads a number that may be missing: -1 then. What does not fit is
// as large as can be.
func parseNumber(q url.Values, name string) (int64, error) {
	if !q.Has(name) {
		return -1, nil
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is %q, no number", name, q.Get(name))
	}
	return n, nil
}

// maxScrape bounds the torrents of a scrape: so many fit a UDP packet.
const maxScrape = 74

// parseScrape reads the query of a scrape.
func parseScrape(query string) ([]infohash.T, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the query is malformed")
	}
	texts := q["info_hash"]
	if len(texts) == 0 {
		return nil, errors.New("info_hash is missing: not all torrents are told of")
	}
	if len(texts) > maxScrape {
		return nil, fmt.Errorf("%d torrents at a time, at most %d", len(texts), maxScrape)
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
