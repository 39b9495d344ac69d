package payload

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
)

// What cannot be coded is an error, whatever a link says.
func TestCodedErrors(t *testing.T) {
	ed, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecdsa, _, err := crypto.GenerateECDSAKeyPair(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	whole, torrent := storetest.Make(t, 1, storetest.File("", 1<<20)), storetest.MakeTorrent(t, 1, storetest.Untimed(storetest.File("", 1<<20))...)
	for name, tt := range map[string]struct {
		c    storetest.Content
		k    int
		key  crypto.PrivKey
		want string
	}{
		"a torrent alone":  {torrent, 16, ed, "use one without x.rlnc"},
		"k = 0":            {whole, 0, ed, "want 2 to 255"},
		"k = 1":            {whole, 1, ed, "want 2 to 255"},
		"k = 256":          {whole, 256, ed, "want 2 to 255"},
		"a key that signs": {whole, 255, ed, ""},
		"another key":      {whole, 16, ecdsa, "not Ed25519"},
	} {
		_, err := Coded(Config{Verifier: store.NewVerifier(tt.c.Manifest)}, tt.k, nil, tt.key)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", name, err, tt.want)
		}
	}
}
