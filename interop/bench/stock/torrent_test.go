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
	if got, want := fmt.Sprintf("%x", tor.HashInfoBytes()), "2559f4a36894e607311b307449bbccc639b00350"; got != want {
		t.Errorf("info-hash %s, want %s", got, want)
	}
	const start = "d8:announce29:http://10.1.0.2:6969/announce4:infod6:lengthi600000e"
	var got strings.Builder
	if err := tor.Write(&got); err != nil || !strings.HasPrefix(got.String(), start) {
		t.Errorf("%v, or %.80q does not begin with %q", err, got.String(), start)
	}
}
