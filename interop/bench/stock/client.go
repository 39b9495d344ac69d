package stock

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Client is a BitTorrent client.
type Client struct {
	name, pkg string
	// program runs the client. try, if not empty, are arguments of a run that succeeds only if the
	// package is installed, for a package that is a module of another program.
	program string
	try     []string
	// file is the name of the settings in the directory of an instance, settings their text.
	file     string
	settings func(i *Instance) string
	// args are the arguments to seed or download the torrent of an instance until it
	// is killed. They or the settings have it run the instance's hook, or create its mark itself, when the
	// content is complete and checked.
	args func(i *Instance) []string
}

//go:embed libtorrent.py
var libtorrentScript string

// isolated keeps Python from importing the script as the module of its name, and modules of the user.
const isolated = "-I"

// maxPeers is more peers than the largest grid has; the defaults of clients are fewer.
const maxPeers = 200

// All lists every client, the fastest on the standard grid first. Tracker and peer exchange find all peers.
func All() []*Client {
	return []*Client{
		{
			name: "aria2", pkg: "aria2", program: "aria2c",
			args: func(i *Instance) []string {
				return []string{
					"--no-conf", "--dir=" + i.data, fmt.Sprintf("--listen-port=%d", Port),
					"--check-integrity=true", // resumes a download, and makes a source of complete content
					"--file-allocation=none", // the default writes the whole file twice
					"--seed-ratio=0.0",       // the default stops at 1.0
					"--bt-max-peers=0",       // no limit
					// While it downloads more slowly than this it looks for further peers; the default is 50 KB/s.
					"--bt-request-peer-speed-limit=1000M",
					"--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false", "--disable-ipv6=true",
					"--on-bt-download-complete=" + i.hook,
					"--show-console-readout=false", "--summary-interval=0", "--console-log-level=warn", i.torrent,
				}
			},
		},
		{ // under a small script with the library's default settings, but over TCP only
			name: "libtorrent", pkg: "python3-libtorrent",
			program: "/usr/bin/python3", // of Debian's packages; another may come first in $PATH
			try:     []string{isolated, "-c", "import libtorrent"},
			file:    "libtorrent.py", settings: func(*Instance) string { return libtorrentScript },
			args: func(i *Instance) []string {
				return []string{isolated, filepath.Join(i.dir, "libtorrent.py"), i.torrent, i.data, strconv.Itoa(Port), i.mark}
			},
		},
		{
			name: "transmission", pkg: "transmission-daemon", program: "transmission-daemon",
			file: "settings.json", settings: transmissionSettings,
			args: func(i *Instance) []string { return []string{"--foreground", "--config-dir", i.dir} },
		},
		{
			// It does badly when all peers start at the same time, and no setting helps: it sends have messages
			// only together with another message or with a keep-alive, every two minutes. Peers that start empty
			// find nothing to request from each other, and download from the source's cluster only.
			name: "rtorrent", pkg: "rtorrent", program: "rtorrent",
			file: "settings", settings: rtorrentSettings,
			args: func(i *Instance) []string {
				return []string{"-n", "-o", "import=" + filepath.Join(i.dir, "settings")}
			},
		},
	}
}

func transmissionSettings(i *Instance) string {
	text, err := json.Marshal(map[string]any{
		"download-dir": i.data, "peer-port": Port,
		"watch-dir": i.watched(), "watch-dir-enabled": true,
		"script-torrent-done-enabled": true, "script-torrent-done-filename": i.hook,
		"peer-limit-per-torrent": maxPeers, "peer-limit-global": maxPeers,
		"dht-enabled": false, "lpd-enabled": false, "port-forwarding-enabled": false,
		"utp-enabled":          false, // TCP is faster here, as with libtorrent
		"encryption":           0,     // prefer peers without: the default costs half again the CPU
		"rpc-enabled":          false, // not used
		"rename-partial-files": false, // a name of 255 bytes has no room for ".part"
	})
	if err != nil {
		panic(err) // strings, numbers and booleans
	}
	return string(text)
}

func rtorrentSettings(i *Instance) string {
	quoted := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
	return strings.Join([]string{
		"system.daemon.set = true", // without a terminal
		"directory.default.set = " + quoted(i.data),
		fmt.Sprintf("network.port_range.set = %d-%[1]d", Port),
		"method.set_key = event.download.finished, mark, ((execute, " + quoted(i.hook) + "))",
		fmt.Sprintf("throttle.max_peers.normal.set = %d", maxPeers),
		fmt.Sprintf("throttle.max_peers.seed.set = %d", maxPeers),
		"throttle.max_uploads.set = 100",
		"dht.mode.set = off",
		"load.start_verbose = " + quoted(i.torrent),
	}, "\n") + "\n"
}

// command makes the command of an instance, and writes the files that it reads.
func (c *Client) command(i *Instance) (*exec.Cmd, error) {
	hook := "#!/bin/sh\n: >" + quote(i.mark) + "\n"
	if err := os.WriteFile(i.hook, []byte(hook), 0o700); err != nil {
		return nil, err
	}
	if c.settings != nil {
		if err := os.WriteFile(filepath.Join(i.dir, c.file), []byte(c.settings(i)), 0o600); err != nil {
			return nil, err
		}
	}
	if c.name == "transmission" {
		if strings.HasPrefix(i.torrent, "magnet:") {
			// The daemon takes links by RPC only, the command as an argument. Transmission pauses a torrent for a
			// moment when it has the metadata; the command ends, with status 0, if it looks just then.
			return i.exec("sh", "-c", `while transmission-cli "$@"; do :; done`, "sh", "--config-dir", i.dir,
				"--download-dir", i.data, "--port", strconv.Itoa(Port), "--finish", i.hook, i.torrent), nil
		}
		if err := i.watch(); err != nil {
			return nil, err
		}
	}
	return i.exec(c.program, c.args(i)...), nil
}

// watched is the directory of torrents for Transmission's daemon. It takes a torrent that is in
// its own directory from the start for a known one, and then does not serve the info dictionary.
func (i *Instance) watched() string { return filepath.Join(i.dir, "watched") }

// watch gives the torrent to Transmission's daemon, which renames the file that it takes. The state of a
// torrent that a killed daemon left is out of date; without it, the daemon checks the content.
func (i *Instance) watch() error {
	return errors.Join(
		os.RemoveAll(filepath.Join(i.dir, "resume")),
		os.RemoveAll(filepath.Join(i.dir, "torrents")),
		os.MkdirAll(i.watched(), 0o700),
		symlink(i.torrent, filepath.Join(i.watched(), "content.torrent")),
	)
}

// Find returns the client of a name, or nil.
func Find(name string) *Client {
	for _, c := range All() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Name returns the client's name in tables.
func (c *Client) Name() string { return c.name }

// Missing is nil if the client is installed; else it contains the package to install.
func (c *Client) Missing() error { return missing(c.program, c.pkg, c.try...) }

// missing is nil if the program of a Debian package is installed.
func missing(program, pkg string, try ...string) error {
	path, err := exec.LookPath(program)
	if err == nil && len(try) > 0 {
		err = exec.Command(path, try...).Run()
	}
	if err != nil {
		return fmt.Errorf("%s is not installed: apt-get install %[1]s", pkg)
	}
	return nil
}
