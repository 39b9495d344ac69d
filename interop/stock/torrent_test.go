package stock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The hash was worked out without this code. That of the same file in pieces of 256 KiB
// was what libtorrent 2.0.8 made.
func TestInfoHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "content.bin")
	content := make([]byte, 600_000)
	for i := range content {
		content[i] = byte(i*7 + i/256)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	tor, err := newTorrent(path, "http://10.1.0.2:6969/announce")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%x", tor.infoHash()), "6714e3369557c2c04c6c8e8968d8c349e0c17f7c"; got != want {
		t.Errorf("info-hash %s, want %s", got, want)
	}
	if got, want := string(tor.encode()), "d8:announce29:http://10.1.0.2:6969/announce4:infod6:lengthi600000e"; !strings.HasPrefix(got, want) {
		t.Errorf("%.80q does not begin with %q", got, want)
	}
}

func TestPieceLengthFollowsSize(t *testing.T) {
	for size, want := range map[int64]int64{0: 64 << 10, 240e6: 128 << 10, 1 << 30: 1 << 20} {
		path := filepath.Join(t.TempDir(), "content.bin")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil { // a hole
			t.Fatal(err)
		}
		f.Close()
		tor, err := newTorrent(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if tor.piece != want || int64(len(tor.pieces)) != 20*((size+want-1)/want) {
			t.Errorf("%d bytes: %d bytes of hashes for pieces of %d, want %d", size, len(tor.pieces), tor.piece, want)
		}
	}
}
