// Package shortname replaces the ids of content and feeds by short names in text that is not secret: logs, and the page
// without its token. An id is all that it takes to fetch the content, a short name leads to nothing.
//
// A short name is "c-" and ten letters and digits: a part of an HMAC of the id. The key follows from the key of the
// node, so a short name is the same after a restart, and differs between nodes.
package shortname

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
)

// nameLength is the length of a short name without its prefix, five bits each.
const nameLength = 10

// Names makes the short names of one node or tracker. Its methods may be called from any goroutine.
type Names struct{ key []byte }

// New returns the names of the node or tracker that has this key.
func New(key crypto.PrivKey) (*Names, error) {
	raw, err := key.Raw()
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	return &Names{key: sum(raw, "mob short names")}, nil
}

// Of returns the short name of a content id.
func (n *Names) Of(id cid.Cid) string {
	text := base32.StdEncoding.EncodeToString(sum(n.key, id.KeyString()))
	return "c-" + strings.ToLower(text[:nameLength])
}

// OfFeed returns the short name of a feed, whose id has the form of a peer id.
func (n *Names) OfFeed(id libpeer.ID) string { return n.Of(libpeer.ToCid(id)) }

// feedDir precedes the id of a feed in the path of its directory: ids elsewhere are of peers, which are not secret.
const feedDir = "feeds/"

// candidate matches a CIDv1 in base32, the form in which mob writes ids, of 16 bytes or more, and directories of feeds.
var candidate = regexp.MustCompile(`b[a-z2-7]{26,}|` + feedDir + `12D3[1-9A-HJ-NP-Za-km-z]+`)

// Replace returns text with content ids, and ids of feeds in paths, replaced by short names.
func (n *Names) Replace(text string) string {
	return candidate.ReplaceAllStringFunc(text, func(word string) string {
		if name, ok := strings.CutPrefix(word, feedDir); ok {
			id, err := libpeer.Decode(name)
			if err != nil {
				return word
			}
			return feedDir + n.OfFeed(id)
		}
		id, err := cid.Decode(word)
		if err != nil {
			return word
		}
		return n.Of(id)
	})
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Logger returns a logger that writes to log what Replace returns.
func (n *Names) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(&handler{log.Handler(), n})
}

// handler replaces ids in what another handler gets.
type handler struct {
	slog.Handler
	names *Names
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.names.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.replace(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = h.replace(a)
	}
	return &handler{h.Handler.WithAttrs(out), h.names}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.names}
}

// replace returns an attribute without ids. A value that has one becomes text.
func (h *handler) replace(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		var members []slog.Attr
		for _, m := range v.Group() {
			members = append(members, h.replace(m))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)}
	case slog.KindString, slog.KindAny:
		text := fmt.Sprint(v.Any())
		if out := h.names.Replace(text); out != text {
			v = slog.StringValue(out)
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
