package stock

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Transmission is transmission-daemon, or transmission-cli for magnet links.
func Transmission() *Client {
	return &Client{
		name:    "transmission",
		needs:   []program{{command: "transmission-daemon", pkg: "transmission-daemon"}},
		command: transmissionCommand,
	}
}

func transmissionCommand(i *Instance) (*exec.Cmd, error) {
	hook, err := i.hook()
	if err != nil {
		return nil, err
	}
	// It takes a torrent that is in its own folder from the start for a known one, and then
	// does not serve the info dictionary.
	watched := filepath.Join(i.dir, "watched")
	settings, err := json.Marshal(map[string]any{
		"download-dir":                 i.data,
		"peer-port":                    Port,
		"watch-dir":                    watched,
		"watch-dir-enabled":            true,
		"script-torrent-done-enabled":  true,
		"script-torrent-done-filename": hook,
		// The default, 50 per torrent, is fewer than the largest grid has.
		"peer-limit-per-torrent": 200,
		"peer-limit-global":      200,
		// Tracker and peer exchange find all peers.
		"dht-enabled":             false,
		"lpd-enabled":             false,
		"port-forwarding-enabled": false,
		"utp-enabled":             false, // TCP is faster here, as with libtorrent
		"encryption":              0,     // prefer peers without: the default costs half again the CPU
		"rpc-enabled":             false, // not used
		// A name of 255 bytes has no room for ".part".
		"rename-partial-files": false,
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(i.dir, "settings.json"), settings, 0o600); err != nil {
		return nil, err
	}
	if strings.HasPrefix(i.torrent, "magnet:") {
		// The daemon takes links by RPC only, the command as an argument.
		return i.exec("transmission-cli", "--config-dir", i.dir, "--download-dir", i.data, "--port", strconv.Itoa(Port),
			"--finish", hook, i.torrent), nil
	}
	// The state of a torrent that a killed daemon left is out of date; without it, the
	// daemon checks the content. It renames the torrent file that it takes.
	for _, old := range []string{"resume", "torrents"} {
		if err := os.RemoveAll(filepath.Join(i.dir, old)); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(watched, 0o700); err != nil {
		return nil, err
	}
	if err := symlink(i.torrent, filepath.Join(watched, "content.torrent")); err != nil {
		return nil, err
	}
	return i.exec("transmission-daemon", "--foreground", "--config-dir", i.dir), nil
}
