package bittorrent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/anacrolix/torrent/bencode"
	"github.com/anacrolix/torrent/tracker"
	trackerhttp "github.com/anacrolix/torrent/tracker/http"
)

const (
	// maxAnnounceReply bounds the reply of an HTTP tracker, in bytes.
	maxAnnounceReply = 1 << 20
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
		Transport:     &http.Transport{DialContext: d.dial, DisableKeepAlives: true},
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
		return reply, fmt.Errorf("status %s", resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnnounceReply+1))
	if err != nil {
		return reply, err
	}
	if len(b) > maxAnnounceReply {
		return reply, fmt.Errorf("reply of more than %d bytes", maxAnnounceReply)
	}
	var r trackerhttp.HttpResponse
	var trailing bencode.ErrUnusedTrailingBytes
	if err := bencode.Unmarshal(b, &r); err != nil && !errors.As(err, &trailing) {
		return reply, errors.New("not the reply of a tracker")
	}
	if r.FailureReason != "" {
		return reply, fmt.Errorf("announce rejected: %q", r.FailureReason[:min(len(r.FailureReason), maxReason)])
	}
	reply.Interval, reply.Leechers, reply.Seeders, reply.Peers = r.Interval, r.Incomplete, r.Complete, r.Peers.List
	for _, p := range r.Peers6 {
		reply.Peers = append(reply.Peers, tracker.Peer{IP: p.IP, Port: p.Port})
	}
	return reply, nil
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
