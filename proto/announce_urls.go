package proto

import "fmt"

// AnnounceURLsRequest asks a tracker where it serves BitTorrent clients. It answers with
// [AnnounceURLs]; one that does not know the request answers with [Goodbye].
type AnnounceURLsRequest struct {
	_ struct{} `cbor:",toarray"`
}

func (*AnnounceURLsRequest) check() error { return nil }

// AnnounceURLs answers an [AnnounceURLsRequest].
type AnnounceURLs struct {
	_ struct{} `cbor:",toarray"`
	// URLs are the announce URLs of the tracker, none if it serves no BitTorrent clients.
	URLs []string
}

func (m *AnnounceURLs) check() error {
	return checkEach("announce URLs", m.URLs, MaxLinkAddrs, func(url string) error {
		if len(url) > MaxText {
			return fmt.Errorf("announce URL of %d bytes, at most %d", len(url), MaxText)
		}
		return CheckAnnounce(url)
	})
}
