package stock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Rtorrent is rTorrent without a terminal. It does badly when all peers start at the same
// time, and no setting helps: it sends have messages only together with another message or
// with a keep-alive, every two minutes. Peers that start empty find nothing to request from
// each other for long, and download from the source's cluster alone.
func Rtorrent() *Client {
	return &Client{
		name:    "rtorrent",
		needs:   []program{{command: "rtorrent", pkg: "rtorrent"}},
		command: rtorrentCommand,
	}
}

func rtorrentCommand(i *Instance) (*exec.Cmd, error) {
	hook, err := i.hook()
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(i.dir, "settings")
	lines := []string{
		"system.daemon.set = true", // without a terminal
		"directory.default.set = " + rtorrentString(i.data),
		fmt.Sprintf("network.port_range.set = %d-%[1]d", Port),
		"method.set_key = event.download.finished, mark, ((execute, " + rtorrentString(hook) + "))",
		// The defaults are 100 peers while downloading, 50 while seeding, and 50 uploads.
		"throttle.max_peers.normal.set = 200",
		"throttle.max_peers.seed.set = 200",
		"throttle.max_uploads.set = 100",
		"dht.mode.set = off", // tracker and peer exchange find all peers
		"load.start_verbose = " + rtorrentString(i.torrent),
	}
	if err := os.WriteFile(settings, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	return i.exec("rtorrent", "-n", "-o", "import="+settings), nil
}

// rtorrentString quotes s for rTorrent's settings.
func rtorrentString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
