package shortname

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
)

func testKey(t *testing.T) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func testNames(t *testing.T, key crypto.PrivKey) *Names {
	t.Helper()
	n, err := New(key)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// testIDs returns ids of a manifest and of an info dictionary.
func testIDs(t *testing.T) (ids []cid.Cid) {
	t.Helper()
	for codec, hash := range map[uint64]uint64{0x71: multihash.SHA2_256, 0x7b: multihash.SHA1} {
		id, err := cid.V1Builder{Codec: codec, MhType: hash}.Sum([]byte("content"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestShortNames(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	names, again, other := testNames(t, key), testNames(t, key), testNames(t, testKey(t))
	form := regexp.MustCompile(`^c-[a-z2-7]{10}$`)
	for _, id := range testIDs(t) {
		short := names.Of(id)
		if !form.MatchString(short) || strings.Contains(id.String(), short[2:]) {
			t.Errorf("the short name of %s is %s", id, short)
		}
		if again.Of(id) != short || other.Of(id) == short {
			t.Errorf("%s: %s, after a restart %s, at another node %s", id, short, again.Of(id), other.Of(id))
		}
		for _, form := range []string{"%s", "magnet:?xt=urn:mob:%s&dn=x", "open /d/transfers/%s/journal: no space", `{"id":"%s"}`, "%[1]s %[1]s"} {
			if got, want := names.Replace(fmt.Sprintf(form, id)), fmt.Sprintf(form, short); got != want {
				t.Errorf("replaced: %s, want %s", got, want)
			}
		}
	}
	feed, err := libpeer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	const text = "%s: open /d/feeds/%s/key: no such file"
	if got, want := names.Replace(fmt.Sprintf(text, feed, feed)), fmt.Sprintf(text, feed, names.OfFeed(feed)); got != want {
		t.Errorf("replaced: %s, want %s", got, want)
	}
	const same = "12D3KooWQkGn2F2AT7m3b8cZuS5i1Nw3kqqHTVvUuGc7kcWbafy /srv/bafy/big.tar basic-block-of-abcdefghijklmnopqrstuvwxyzabcdefghijk"
	if got := names.Replace(same); got != same {
		t.Errorf("replaced: %s", got)
	}
}

// TestLogger checks that no part of a log record has an id.
func TestLogger(t *testing.T) {
	t.Parallel()
	names := testNames(t, testKey(t))
	for _, id := range testIDs(t) {
		var text bytes.Buffer
		log := names.Logger(slog.New(slog.NewTextHandler(&text, nil)))
		log = log.With("content", id.String()).WithGroup("g").With("cid", id)
		//nolint:sloglint // a message that has an id is what is tested
		log.Info("of "+id.String(), "error", fmt.Errorf("open: %w", errors.New("transfers/"+id.String())), "n", 7,
			"files", []string{"a", "transfers/" + id.String()}, slog.Group("in", "link", "urn:mob:"+id.String()))
		got := text.String()
		if strings.Contains(got, id.String()) || strings.Count(got, names.Of(id)) != 6 || !strings.Contains(got, "g.n=7") {
			t.Errorf("logged: %s", got)
		}
	}
}
