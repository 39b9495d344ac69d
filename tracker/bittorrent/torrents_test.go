package bittorrent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListOfTorrents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "torrents")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h1, h2 := hash(1), hash(2)
	write("# ours\n\n" + strings.ToUpper(h1.HexString()) + " the weights\r\n\t" + h2.HexString() + strings.Repeat("ab", 12))
	c := new(clock)
	s, err := newServer(Config{Torrents: path}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	tracked := func(want ...bool) {
		t.Helper()
		for i, want := range want {
			_, err := s.announce(&announce{hash: hash(i), addr: addr("192.0.2.1:1")})
			if (err == nil) != want {
				t.Errorf("torrent %d: %v", i, err)
			}
		}
	}
	tracked(false, true, true)
	h0 := hash(0)
	write(h0.HexString() + "\n" + h1.HexString() + "\n")
	tracked(false, true, true) // not read yet
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if torrents, peers := s.Size(); torrents != 1 || peers != 1 {
		t.Errorf("%d torrents with %d peers are left", torrents, peers)
	}
	tracked(true, true, false)
	// A list with a mistake changes nothing.
	for _, bad := range []string{h2.HexString() + "\nxyz", h2.HexString()[1:], h2.HexString() + "00", "-"} {
		write(bad)
		if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "is no info-hash") {
			t.Errorf("%q: %v", bad, err)
		}
		tracked(true, true, false)
	}
	write("") // nobody's
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	tracked(false, false, false)
	if _, err := newServer(Config{Torrents: path + "x"}, c.now); err == nil {
		t.Error("a list that is missing is taken for none")
	}
}
