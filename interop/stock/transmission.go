package stock

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Transmission is transmission-daemon.
func Transmission() *Client {
	return &Client{
		name:  "transmission",
		needs: []program{{command: "transmission-daemon", pkg: "transmission-daemon"}},
		start: startTransmission,
	}
}

func startTransmission(s seat) (*exec.Cmd, error) {
	hook, err := s.hook()
	if err != nil {
		return nil, err
	}
	// A torrent that lies in its own folder from the start it takes for one that it had
	// before, and then gives nobody the info dictionary.
	watched := filepath.Join(s.dir, "watched")
	settings, err := json.Marshal(map[string]any{
		"download-dir":                 s.data,
		"peer-port":                    port,
		"watch-dir":                    watched,
		"watch-dir-enabled":            true,
		"script-torrent-done-enabled":  true,
		"script-torrent-done-filename": hook,
		// By default 50 per torrent, fewer than the largest grid has.
		"peer-limit-per-torrent": 200,
		"peer-limit-global":      200,
		// The tracker and exchange of peers find all members; there is nobody else.
		"dht-enabled":             false,
		"lpd-enabled":             false,
		"port-forwarding-enabled": false,
		"utp-enabled":             false, // TCP is faster here, as for libtorrent
		"encryption":              0,     // peers without it first: with it, as by default, half again the CPU
		"rpc-enabled":             false, // nobody asks it for anything
		// A name of 255 bytes has no room for ".part".
		"rename-partial-files": false,
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "settings.json"), settings, 0o600); err != nil {
		return nil, err
	}
	if strings.HasPrefix(s.torrent, "magnet:") {
		// The daemon takes links from others only, the command from its arguments.
		return s.command("transmission-cli", "--config-dir", s.dir, "--download-dir", s.data, "--port", strconv.Itoa(port),
			"--finish", hook, s.torrent), nil
	}
	// What one that was killed had noted of its torrent is old; without it, it looks at
	// what is there. It renames the file that it took.
	for _, old := range []string{"resume", "torrents"} {
		if err := os.RemoveAll(filepath.Join(s.dir, old)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(watched, 0o700); err != nil {
		return nil, err
	}
	if err := link(s.torrent, filepath.Join(watched, "content.torrent")); err != nil {
		return nil, err
	}
	return s.command("transmission-daemon", "--foreground", "--config-dir", s.dir), nil
}
