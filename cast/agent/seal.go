package agent

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

const (
	// connectTimeout bounds the time to connect to an address of a neighbor, and sealedTimeout the time until the sealed content has
	// arrived from there: a busy host may take longer than a second. After sealedTimeout no other address is tried, since the agent
	// sends no reports in this time.
	connectTimeout = time.Second
	sealedTimeout  = 5 * time.Second
	// maxSealed bounds a sealed content, in bytes.
	maxSealed = 64 << 10
)

func sealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// shortContent is the message that the first agent of a cluster serves to its neighbors, sealed.
type shortContent struct {
	Manifest []byte `json:"manifest"`
	Content  []byte `json:"content,omitempty"`
}

// seal returns the sealed content and manifest of a message.
func seal(s *Start) ([]byte, error) {
	gcm, err := sealer(s.Seal)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(&shortContent{s.Manifest, s.Content})
	return gcm.Seal(nil, nil, b, nil), err
}

// unseal adds the content and the manifest to a message, from the neighbor. It reports whether it has got them, within twice the
// timeout.
func unseal(s *Start, timeout time.Duration) bool {
	gcm, err := sealer(s.Seal)
	if err != nil {
		return false
	}
	c := http.Client{
		Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a neighbor must not choose what this host requests
	}
	began := time.Now()
	for _, url := range s.Neighbor {
		if time.Since(began) >= timeout {
			break
		}
		resp, err := c.Get(url)
		if err != nil {
			continue
		}
		b, _ := io.ReadAll(io.LimitReader(resp.Body, maxSealed))
		_ = resp.Body.Close()
		var got shortContent
		if b, err = gcm.Open(nil, nil, b, nil); err == nil && json.Unmarshal(b, &got) == nil && got.isOf(s.Link) {
			s.Manifest, s.Content = got.Manifest, got.Content
			return true
		}
	}
	return false
}

// isOf reports whether the bytes are the content of a link: each host of the cast has the key, and may be malicious.
func (c *shortContent) isOf(text string) bool {
	link, err := proto.ParseLink(text)
	if err != nil {
		return false
	}
	m, err := proto.DecodeVerified(link.Manifest, c.Manifest)
	if err != nil || m.Length() != int64(len(c.Content)) {
		return false
	}
	v, r := store.NewVerifier(m), bytes.NewReader(c.Content)
	for i := range m.Pieces() {
		if good, err := v.Check(r, i); err != nil || !good {
			return false
		}
	}
	return true
}
