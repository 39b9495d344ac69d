package stock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The info-hash was computed by other means. With pieces of 256 KiB it equals that by
// libtorrent 2.0.8.
func TestInfoHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "content.bin")
	content := make([]byte, 600_000)
	for i := range content {
		content[i] = byte(i*7 + i/256)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	tor, err := NewTorrent(path, "http://10.1.0.2:6969/announce")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%x", tor.InfoHash()), "2559f4a36894e607311b307449bbccc639b00350"; got != want {
		t.Errorf("info-hash %s, want %s", got, want)
	}
	const start = "d8:announce29:http://10.1.0.2:6969/announce4:infod6:lengthi600000e"
	if got := string(tor.Encode()); !strings.HasPrefix(got, start) {
		t.Errorf("%.80q does not begin with %q", got, start)
	}
}

func TestPieceLengthFollowsSize(t *testing.T) {
	for size, want := range map[int64]int64{0: 16 << 10, 240e6: 128 << 10, 1 << 30: 1 << 20, 1 << 40: 16 << 20} {
		if got := pieceLength(size); got != want {
			t.Errorf("pieces of %d bytes for %d, want %d", got, size, want)
		}
	}
}

func TestEveryPieceIsHashed(t *testing.T) {
	for size, want := range map[int]int{0: 0, 1: 1, 16 << 10: 1, 16<<10 + 1: 2, 300e3: 19} {
		path := filepath.Join(t.TempDir(), "content.bin")
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		tor, err := NewTorrent(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(tor.pieces) != 20*want {
			t.Errorf("%d bytes: %d bytes of hashes, want %d", size, len(tor.pieces), 20*want)
		}
	}
}
