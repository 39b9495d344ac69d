package membership

import (
	"slices"
	"strings"
	"testing"
)

// TestInvitation parses the text of each kind, and such texts with one wrong character.
func TestInvitation(t *testing.T) {
	t.Parallel()
	secret, other := newSecret(t), newSecret(t)
	grant := sign(t, secret, newPeer(t), "geneva", DefaultRoles)
	for name, want := range map[string]*Invitation{
		"bare":        {Network: secret.ID(), Trackers: []string{"/ip4/192.0.2.7/tcp/4000", "b"}},
		"certificate": {Network: secret.ID(), Grant: grant},
		"secret":      {Network: secret.ID(), Secret: secret},
	} {
		text := want.String()
		got, err := ParseInvitation(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Network != want.Network || !slices.Equal(got.Trackers, want.Trackers) || got.String() != text ||
			(got.Grant == nil) != (want.Grant == nil) || (got.Secret == nil) != (want.Secret == nil) {
			t.Errorf("%s: got %+v", name, got)
		}
		for i := range text {
			b := []byte(text)
			b[i]++
			if _, err := ParseInvitation(string(b)); err == nil {
				t.Errorf("%s: parsed with a wrong character %d", name, i)
			}
		}
		for _, bad := range []string{text[:len(text)-1], text[:len(text)/2], text + "AAAA"} {
			_, err := ParseInvitation(bad)
			checkError(t, err, "the line is damaged")
		}
	}
	_, err := ParseInvitation((&Invitation{Network: other.ID(), Grant: grant}).String())
	checkError(t, err, "another network")
	_, err = ParseInvitation((&Invitation{Network: other.ID(), Secret: secret}).String())
	checkError(t, err, "another network")
	_, err = ParseInvitation((&Invitation{Network: secret.ID(), Secret: secret, Grant: grant}).String())
	checkError(t, err, "a certificate and a secret")
	_, err = ParseInvitation((&Invitation{Trackers: slices.Repeat([]string{"a"}, 65)}).String())
	checkError(t, err, "another version")
	for _, bad := range []string{"", "join-", secret.ID().String(), strings.Repeat("join-", 1000)} {
		if _, err := ParseInvitation(bad); err == nil {
			t.Errorf("%.20q was parsed", bad)
		}
	}
}
