package stock

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// systemPython is the interpreter of Debian's packages; another may come first in $PATH.
const systemPython = "/usr/bin/python3"

// isolated keeps Python from importing the script as the module of its name, and modules
// of the user.
const isolated = "-I"

//go:embed libtorrent.py
var libtorrentScript []byte

// Libtorrent is libtorrent, the library of qBittorrent and Deluge, under a small script
// with the library's default settings, but over TCP only.
func Libtorrent() *Client {
	return &Client{
		name: "libtorrent",
		needs: []program{{
			command: systemPython,
			pkg:     "python3-libtorrent",
			try:     []string{isolated, "-c", "import libtorrent"},
		}},
		command: libtorrentCommand,
	}
}

func libtorrentCommand(i *Instance) (*exec.Cmd, error) {
	script := filepath.Join(i.dir, "libtorrent.py")
	if err := os.WriteFile(script, libtorrentScript, 0o600); err != nil {
		return nil, err
	}
	return i.exec(systemPython, isolated, script, i.torrent, i.data, strconv.Itoa(Port), i.mark), nil
}
