package bittorrent

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/anacrolix/torrent/types/infohash"
)

// readTorrents reads a list of torrents: on each line an info-hash in hexadecimal
// digits, 40 of version 1 or 64 of version 2, and whatever else after a space.
// Empty lines and those that begin with # say nothing.
func readTorrents(path string) (map[infohash.T]struct{}, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of torrents: %w", err)
	}
	out := make(map[infohash.T]struct{})
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		hash, err := hex.DecodeString(words[0])
		if err != nil || len(hash) != 20 && len(hash) != 32 {
			return nil, fmt.Errorf("line %d of %s is no info-hash: give 40 hexadecimal digits, or the 64 of version 2", n, path)
		}
		out[infohash.T(hash[:infohash.Size])] = struct{}{} // trackers see the beginning of a longer one (BEP 52)
	}
	return out, nil
}
