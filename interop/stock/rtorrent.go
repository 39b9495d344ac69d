package stock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Rtorrent is rTorrent without its terminal. When all start together, as here, it
// does badly, and no setting helps: it tells a peer which pieces it has when it has
// something else to send to it, or when it keeps the connection alive, every two
// minutes. Members that start with nothing so find nothing to ask of each other
// for long, and fetch from the source's cluster alone.
func Rtorrent() *Client {
	return &Client{
		name:  "rtorrent",
		needs: []program{{command: "rtorrent", pkg: "rtorrent"}},
		start: startRtorrent,
	}
}

func startRtorrent(s seat) (*exec.Cmd, error) {
	hook, err := s.hook()
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(s.dir, "settings")
	lines := []string{
		"system.daemon.set = true", // without a terminal
		"directory.default.set = " + rtorrentWord(s.data),
		fmt.Sprintf("network.port_range.set = %d-%[1]d", port),
		"method.set_key = event.download.finished, mark, ((execute, " + rtorrentWord(hook) + "))",
		// By default 100 peers while fetching, 50 while seeding, 50 uploads.
		"throttle.max_peers.normal.set = 200",
		"throttle.max_peers.seed.set = 200",
		"throttle.max_uploads.set = 100",
		// The tracker and exchange of peers find all members; there is nobody else.
		"dht.mode.set = off",
		"load.start_verbose = " + rtorrentWord(s.torrent),
	}
	if err := os.WriteFile(settings, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	return s.command("rtorrent", "-n", "-o", "import="+settings), nil
}

// rtorrentWord makes one word of s in rTorrent's settings.
func rtorrentWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
