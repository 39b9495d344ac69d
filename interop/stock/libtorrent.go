package stock

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// systemPython is the interpreter that Debian's packages are for; another may come
// first in the path.
const systemPython = "/usr/bin/python3"

// isolated keeps the script from being taken for the module of its name, and a
// user's own modules out.
const isolated = "-I"

//go:embed libtorrent.py
var libtorrentScript []byte

// Libtorrent is libtorrent, the library of qBittorrent and Deluge, under a small
// script of ours with the library's default settings, but over TCP only.
func Libtorrent() *Client {
	return &Client{
		name:  "libtorrent",
		needs: []program{{command: systemPython, pkg: "python3-libtorrent", try: []string{isolated, "-c", "import libtorrent"}}},
		start: startLibtorrent,
	}
}

func startLibtorrent(s seat) (*exec.Cmd, error) {
	script := filepath.Join(s.dir, "libtorrent.py")
	if err := os.WriteFile(script, libtorrentScript, 0o600); err != nil {
		return nil, err
	}
	return s.command(systemPython, isolated, script, s.torrent, s.data, strconv.Itoa(port), s.mark), nil
}
