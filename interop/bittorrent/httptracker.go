package bittorrent

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anacrolix/torrent/tracker"

	"github.com/mobgrid/mob/interop/bittorrent/bdecode"
)

const (
	// maxAnnounceReply bounds the reply of an HTTP tracker, and maxReplyHeader its header, which errors may contain, in bytes.
	maxAnnounceReply = 1 << 20
	maxReplyHeader   = 16 << 10
	// maxRedirects bounds the redirects of an announce.
	maxRedirects = 5
	// maxReason bounds the displayed part of a tracker's failure reason, in bytes.
	maxReason = 200
)

// httpTracker announces to a tracker by HTTP (BEP 3, 7 and 23). Unlike the library's client it verifies
// certificates.
type httpTracker struct {
	url    *url.URL
	client http.Client
}

func newHTTPTracker(u *url.URL, d *trackerDialer) *httpTracker {
	return &httpTracker{url: u, client: http.Client{
		Transport:     &http.Transport{DialContext: d.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxReplyHeader},
		CheckRedirect: checkRedirect,
	}}
}

func checkRedirect(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case to.URL.Hostname() != from.Hostname():
		return fmt.Errorf("redirect to another host, %s", to.URL.Hostname())
	case from.Scheme == "https" && to.URL.Scheme != "https":
		return errors.New("redirect from HTTPS to HTTP")
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

// Announce implements announcer.
func (h *httpTracker) Announce(
	ctx context.Context, a tracker.AnnounceRequest, opt tracker.AnnounceOpt,
) (reply tracker.AnnounceResponse, err error) {
	q := url.Values{
		"info_hash":  {string(a.InfoHash[:])},
		"peer_id":    {string(a.PeerId[:])},
		"port":       {strconv.Itoa(int(a.Port))},
		"uploaded":   {strconv.FormatInt(a.Uploaded, 10)},
		"downloaded": {strconv.FormatInt(a.Downloaded, 10)},
		"left":       {strconv.FormatInt(a.Left, 10)},
		"compact":    {"1"},
		// Clients may connect to the node by the encrypted handshake.
		"supportcrypto": {"1"},
	}
	if a.Event != tracker.None {
		q.Set("event", a.Event.String())
	}
	u := *h.url
	// Some trackers require their own parameters first, and take + for itself.
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+strings.ReplaceAll(q.Encode(), "+", "%20"), "&")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return reply, err
	}
	req.Header.Set("User-Agent", opt.UserAgent)
	resp, err := h.client.Do(req)
	if err != nil {
		return reply, plainError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return reply, fmt.Errorf("status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnnounceReply+1))
	if err != nil {
		return reply, err
	}
	if len(b) > maxAnnounceReply {
		return reply, fmt.Errorf("reply of more than %d bytes", maxAnnounceReply)
	}
	return decodeReply(b)
}

// decodeReply decodes the reply of an HTTP tracker, with at most [maxAddrs] peers of each kind.
func decodeReply(b []byte) (reply tracker.AnnounceResponse, err error) {
	d, _, err := bdecode.ReadDict(b, "failure reason", "interval", "peers", "peers6")
	if err != nil {
		return reply, errors.New("not the reply of a tracker")
	}
	if reason, _ := d["failure reason"].Bytes(); len(reason) > 0 {
		return reply, fmt.Errorf("announce rejected: %q", reason[:min(len(reason), maxReason)])
	}
	reply.Interval = int32(min(max(d.Integer("interval"), 0), math.MaxInt32))
	reply.Peers = slices.Concat(compactPeers(d["peers"], net.IPv4len), listedPeers(d["peers"]), compactPeers(d["peers6"], net.IPv6len))
	return reply, nil
}

// compactPeers decodes addresses of ipLen bytes and ports (BEP 23 and 7), none of another value.
func compactPeers(v bdecode.Value, ipLen int) (peers []tracker.Peer) {
	b, _ := v.Bytes()
	for addr := range slices.Chunk(b[:min(len(b), maxAddrs*(ipLen+2))], ipLen+2) {
		if len(addr) == ipLen+2 {
			peers = append(peers, tracker.Peer{IP: addr[:ipLen], Port: int(binary.BigEndian.Uint16(addr[ipLen:]))})
		}
	}
	return peers
}

// listedPeers decodes a list of dictionaries (BEP 3). It skips invalid ones.
func listedPeers(v bdecode.Value) (peers []tracker.Peer) {
	read := 0
	for e := range v.Elements() {
		if read++; read > maxAddrs {
			break
		}
		d, _, err := bdecode.ReadDict(e, "ip", "port")
		if ip := net.ParseIP(d.Text("ip")); err == nil && ip != nil {
			peers = append(peers, tracker.Peer{IP: ip, Port: int(d.Integer("port"))})
		}
	}
	return peers
}

// Close implements announcer.
func (h *httpTracker) Close() error { return nil }

// plainError returns the error of a request without the URL, which contains the query.
func plainError(err error) error {
	if request := new(url.Error); errors.As(err, &request) {
		err = request.Err
	}
	if cert := new(tls.CertificateVerificationError); errors.As(err, &cert) {
		return fmt.Errorf("invalid certificate: %w", cert.Err)
	}
	return err
}
