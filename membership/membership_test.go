package membership

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// epoch is a time with whole seconds, as certificates have.
var epoch = time.Unix(1_800_000_000, 0).UTC()

func newPeer(t testing.TB) peer.ID {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func newSecret(t testing.TB) *Secret {
	t.Helper()
	s, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sign signs a grant for a day from epoch on.
func sign(t testing.TB, s *Secret, id peer.ID, cluster string, roles Roles) *Grant {
	t.Helper()
	g, err := s.Sign(Certificate{Peer: id, Cluster: cluster, Roles: roles, From: epoch, To: epoch.Add(24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestID(t *testing.T) {
	id := newSecret(t).ID()
	text := id.String()
	if got, err := ParseID(text); err != nil || got != id || !IsID(text) {
		t.Fatalf("%s: parsed as %v, %v", text, got, err)
	}
	for i := range text { // any wrong character is found
		b := []byte(text)
		if b[i]++; b[i] == 'z'+1 {
			b[i] = 'a'
		}
		if _, err := ParseID(string(b)); err == nil {
			t.Errorf("%s was parsed, instead of %s", b, text)
		}
	}
	for _, bad := range []string{"", "net-", text[:len(text)-1], text + "a", strings.ToUpper(text)} {
		if _, err := ParseID(bad); err == nil {
			t.Errorf("%q was parsed", bad)
		}
	}
}

func TestRoles(t *testing.T) {
	for text, want := range map[string]Roles{"seed": Seed, "get, seed": DefaultRoles, "seed,get,track": allRoles} {
		if got, err := ParseRoles(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "admin", "seed,", "Seed"} {
		if _, err := ParseRoles(bad); err == nil {
			t.Errorf("%q was parsed", bad)
		}
	}
	if got := allRoles.String(); got != "seed,get,track" {
		t.Error(got)
	}
}

// TestVerify shows a member each kind of certificate.
func TestVerify(t *testing.T) {
	secret, other := newSecret(t), newSecret(t)
	self, from, third := newPeer(t), newPeer(t), newPeer(t)
	good := sign(t, secret, from, "geneva", DefaultRoles)
	revoked, err := secret.Revoke(nil, epoch, third)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good.Certificate.Envelope())
	flipped[len(flipped)-10] ^= 1
	for _, tt := range []struct {
		name string
		show []byte
		from peer.ID
		now  time.Duration // after epoch
		want string
	}{
		{"valid", good.Certificate.Envelope(), from, time.Hour, ""},
		{"another network", sign(t, other, from, "geneva", DefaultRoles).Certificate.Envelope(), from, time.Hour, "another network"},
		{"replayed by another node", good.Certificate.Envelope(), third, time.Hour, "of another node"},
		{"clock two hours behind", good.Certificate.Envelope(), from, -2 * time.Hour, ""},
		{"clock three hours behind", good.Certificate.Envelope(), from, -3 * time.Hour, "not valid before 2027-01-15T08:00:00Z"},
		{"clock two hours ahead", good.Certificate.Envelope(), from, 26 * time.Hour, ""},
		{"expired", good.Certificate.Envelope(), from, 27 * time.Hour, "expired at 2027-01-16T08:00:00Z"},
		{"revoked", sign(t, secret, third, "geneva", DefaultRoles).Certificate.Envelope(), third, time.Hour, "was revoked"},
		{"a pass", good.Pass.Envelope(), from, time.Hour, "not of this kind"},
		{"a list", revoked.Envelope(), from, time.Hour, "not of this kind"},
		{"a wrong signature", flipped, from, time.Hour, "invalid"},
		{"cut off", good.Certificate.Envelope()[:50], from, time.Hour, "invalid"},
		{"more bytes", append(bytes.Clone(good.Certificate.Envelope()), 0x2a, 0), from, time.Hour, "only encoding"},
		{"nothing", nil, from, time.Hour, "invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := epoch
			m, err := New(Config{
				Network: secret.ID(), Grant: sign(t, secret, self, "lyon", DefaultRoles), Self: self, Cluster: "lyon",
				Now: func() time.Time { return now },
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Adopt(revoked); err != nil {
				t.Fatal(err)
			}
			now = epoch.Add(tt.now)
			_, err = m.Verify(tt.show, tt.from)
			checkError(t, err, tt.want)
		})
	}
	if err := (&Member{cfg: Config{Network: secret.ID(), Now: func() time.Time { return epoch }}}).
		VerifyPass(good.Certificate.Envelope(), from); err == nil {
		t.Error("a certificate passes for a pass")
	}
}

// TestNew checks that New rejects invalid grants, with a hint for the user.
func TestNew(t *testing.T) {
	secret, other := newSecret(t), newSecret(t)
	self := newPeer(t)
	for _, tt := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"with the secret", Config{Secret: secret, Cluster: "geneva"}, ""},
		{"a grant", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva", Get), Cluster: "geneva"}, ""},
		{"no cluster", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva", Get)}, ""},
		{"another network", Config{Network: other.ID(), Grant: sign(t, secret, self, "geneva", Get)}, "of the network " + secret.ID().String()},
		{"another node", Config{Network: secret.ID(), Grant: sign(t, secret, newPeer(t), "geneva", Get)}, "`mob network sign FILE " + self.String() + " --cluster NAME`"},
		{"another cluster", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva", Get), Cluster: "lyon"}, "use --cluster geneva"},
		{"a rack", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva/rack3", Get), Cluster: "geneva/rack3"}, ""},
		{"another rack", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva/rack3", Get), Cluster: "geneva/rack4"}, "use --cluster geneva/rack3"},
		{"a rack's site", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva/rack3", Get), Cluster: "geneva"}, "use --cluster geneva/rack3"},
		{"a site's rack", Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva", Get), Cluster: "geneva/rack3"}, "use --cluster geneva,"},
		{"no cluster to sign for", Config{Secret: secret}, "cluster name"},
		{"expired", Config{
			Network: secret.ID(), Grant: sign(t, secret, self, "geneva", Get),
			Now: func() time.Time { return epoch.Add(48 * time.Hour) },
		}, "expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Self = self
			if tt.cfg.Now == nil {
				tt.cfg.Now = func() time.Time { return epoch }
			}
			_, err := New(tt.cfg)
			checkError(t, err, tt.want)
		})
	}
}

// TestRenew checks that a member with the secret renews its grant well before the end, and when the
// clock was set back. A member without the secret reports when it has expired.
func TestRenew(t *testing.T) {
	secret, self := newSecret(t), newPeer(t)
	now := epoch
	clock := func() time.Time { return now }
	m, err := New(Config{Secret: secret, Self: self, Cluster: "geneva", Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	m.OnChange(func() { changes++ })
	renewed := func(want int) {
		t.Helper()
		if err := m.Renew(); err != nil || changes != want {
			t.Errorf("at %v: renewed %d times, %v, want %d", now.Sub(epoch), changes, err, want)
		}
		if _, err := m.Verify(m.Grant().Certificate.Envelope(), self); err != nil {
			t.Errorf("at %v: %v", now.Sub(epoch), err)
		}
	}
	renewed(0)
	now = now.Add(ownValidity/2 - time.Second)
	renewed(0)
	now = now.Add(time.Second)
	renewed(1)
	now = now.Add(-48 * time.Hour)
	renewed(2)

	now = epoch
	plain, err := New(Config{Network: secret.ID(), Grant: sign(t, secret, self, "geneva", Get), Self: self, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	now = epoch.Add(26 * time.Hour)
	if err := plain.Problem(); err != nil {
		t.Error("within the allowed difference:", err)
	}
	now = epoch.Add(27 * time.Hour)
	checkError(t, plain.Problem(), "not a member of its network: the certificate expired")
	g, err := secret.Sign(Certificate{Peer: self, Cluster: "geneva", Roles: Get, From: now, To: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if newer, err := plain.SetGrant(g); !newer || err != nil {
		t.Error(newer, err)
	}
	if err := plain.Problem(); err != nil {
		t.Error("with a new grant:", err)
	}
}

// TestLists checks that a member adopts newer lists only, and stores them across restarts.
func TestLists(t *testing.T) {
	secret, self, a, b := newSecret(t), newPeer(t), newPeer(t), newPeer(t)
	dir := t.TempDir()
	cfg := Config{
		Secret: secret, Self: self, Cluster: "geneva", Now: func() time.Time { return epoch },
		ListFile: filepath.Join(dir, "revoked"), WriteFile: os.WriteFile,
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	first, err := secret.Revoke(nil, epoch, a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := secret.Revoke(first, epoch, b, a)
	if err != nil {
		t.Fatal(err)
	}
	if !second.Has(a) || !second.Has(b) || second.Has(self) || len(second.Peers) != 2 || second.Serial != first.Serial+1 {
		t.Errorf("second list %+v, first %+v", second, first)
	}
	foreign, err := newSecret(t).Revoke(nil, epoch.Add(time.Hour), self)
	if err != nil {
		t.Fatal(err)
	}
	take := func(l *List, newer bool, want string) {
		t.Helper()
		got, err := m.AdoptEnvelope(l.Envelope())
		checkError(t, err, want)
		if got != newer {
			t.Errorf("newer %v, want %v", got, newer)
		}
	}
	take(foreign, false, "another network")
	take(second, true, "")
	take(first, false, "") // members of the newer list stay revoked
	take(second, false, "")
	if m, err = New(cfg); err != nil || !m.Lists().Has(b) || m.Lists().Serial() != second.Serial {
		t.Fatalf("after a restart: %v", err)
	}

	if _, err := secret.Revoke(foreign, epoch, a); err == nil {
		t.Error("a list of another network was extended")
	}
	many := make([]peer.ID, maxRevoked+1)
	for i := range many {
		many[i] = newPeer(t)
	}
	if l, err := secret.Revoke(nil, epoch, many[1:]...); err != nil || len(l.Peers) != maxRevoked {
		t.Errorf("the longest list: %v", err)
	}
	_, err = secret.Revoke(nil, epoch, many...)
	checkError(t, err, "make a new network")

	third, err := secret.Revoke(second, epoch, self)
	if err != nil {
		t.Fatal(err)
	}
	take(third, true, "")
	checkError(t, m.Problem(), "was revoked")
	_, err = New(cfg)
	checkError(t, err, "was revoked")
}

// TestFiles checks that files are read as written, and rejected if readable by other users or invalid.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	secret := newSecret(t)
	grant := sign(t, secret, newPeer(t), "geneva", DefaultRoles)
	list, err := secret.Revoke(nil, epoch, newPeer(t))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	group := write("group", secret.PEM(), 0o640)
	_ = os.Chown(group, -1, 12345) // the files of root have its group
	s, err := ReadSecret(write("secret", secret.PEM(), 0o600))
	if err != nil || s.ID() != secret.ID() {
		t.Fatal(err)
	}
	g, err := ReadGrant(write("grant", grant.PEM(), 0o644))
	if err != nil || !bytes.Equal(g.PEM(), grant.PEM()) {
		t.Fatal(err)
	}
	l, err := ReadLists(write("list", list.PEM(), 0o644))
	if err != nil || l.Serial() != list.Serial {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		write("world", secret.PEM(), 0o604):                     "can be read by other users (mode 0604): `chmod 600",
		group:                                                   "can be read by other users (mode 0640)",
		write("cert", grant.PEM(), 0o600):                       "is not the secret of a network",
		write("empty", nil, 0o600):                              "is not the secret of a network",
		write("huge", make([]byte, maxFile+1), 0o600):           "too large",
		write("short", pemBlock(secretBlock, []byte{1}), 0o600): "damaged",
		dir:                           "not a file",
		filepath.Join(dir, "missing"): "no such file",
	} {
		_, err := ReadSecret(name)
		checkError(t, err, want)
	}
	mixed := append(pemBlock(passBlock, sign(t, secret, newPeer(t), "a", Get).Pass.Envelope()),
		pemBlock(certificateBlock, grant.Certificate.Envelope())...)
	_, err = ParseGrant(mixed)
	checkError(t, err, "do not belong together")
	_, err = ReadGrant(filepath.Join(dir, "list"))
	checkError(t, err, "is not a certificate")
	_, err = ReadLists(filepath.Join(dir, "grant"))
	checkError(t, err, "is not a list of revoked members")
	_, err = ReadLists(write("list and junk", slices.Concat(list.PEM(), grant.PEM()), 0o644))
	checkError(t, err, "is not a list of revoked members")
	other := revoke(t, secret, nil, time.Hour, newPeer(t)).PEM()
	for name, text := range map[string][]byte{
		"second cut off": slices.Concat(list.PEM(), other[:len(other)-40]),
		"first cut off":  slices.Concat(list.PEM()[:100], []byte{'\n'}, other),
		"no line end":    slices.Concat(list.PEM(), bytes.TrimSpace(other), list.PEM()),
	} {
		_, err = ReadLists(write(name, text, 0o644))
		checkError(t, err, "is not a list of revoked members")
	}
}

// TestSecretFromSystemd checks a secret with the owner and the mode of a credential of a service: see LoadCredential= in
// systemd.exec(5).
func TestSecretFromSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "network")
	secret := newSecret(t)
	if err := os.WriteFile(path, secret.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 0, 0); err != nil {
		t.Skip(err) // only root may
	}
	for mode, want := range map[os.FileMode]string{
		0o440: "", 0o400: "", 0o444: "can be read by other users", 0o460: "can be read by other users",
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSecret(path)
		if want != "" {
			checkError(t, err, want)
		} else if err != nil || s.ID() != secret.ID() {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// A damaged file has one error and no panic, and what is read is what was signed.
func FuzzOpen(f *testing.F) {
	secret, self := newSecret(f), newPeer(f)
	grant := sign(f, secret, self, "geneva", DefaultRoles)
	list, err := secret.Revoke(nil, epoch, newPeer(f))
	if err != nil {
		f.Fatal(err)
	}
	known := [][]byte{grant.Pass.Envelope(), grant.Certificate.Envelope(), list.Envelope()}
	for _, b := range known {
		f.Add(b)
	}
	f.Add(grant.PEM())
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = ParseGrant(b)
		_, _ = ParseLists(b)
		var network ID
		if c, err := openPass(b); err == nil {
			network = c.Network
		}
		if c, err := openCertificate(b); err == nil {
			network = c.Network
		}
		if l, err := openList(b); err == nil {
			network = l.Network
		}
		if network == secret.ID() && !bytes.Equal(b, known[0]) && !bytes.Equal(b, known[1]) && !bytes.Equal(b, known[2]) {
			t.Fatalf("%x has a valid signature", b)
		}
	})
}
