package stock

import (
	"fmt"
	"os/exec"
)

// Aria2 is aria2, one process for one download.
func Aria2() *Client {
	return &Client{
		name:    "aria2",
		needs:   []program{{command: "aria2c", pkg: "aria2"}},
		command: aria2Command,
	}
}

func aria2Command(i *Instance) (*exec.Cmd, error) {
	hook, err := i.hook()
	if err != nil {
		return nil, err
	}
	return i.exec("aria2c",
		"--no-conf",
		"--dir="+i.data,
		fmt.Sprintf("--listen-port=%d", Port),
		"--check-integrity=true", // resumes a download, and makes a source of complete content
		"--file-allocation=none", // the default writes the whole file twice
		"--seed-ratio=0.0",       // the default stops at 1.0
		"--bt-max-peers=0",       // the default, 55, is fewer than the largest grid has
		// While it downloads more slowly than this it looks for further peers; the
		// default is 50 KB/s.
		"--bt-request-peer-speed-limit=1000M",
		"--enable-dht=false", // tracker and peer exchange find all peers
		"--enable-dht6=false",
		"--bt-enable-lpd=false",
		"--disable-ipv6=true",
		"--on-bt-download-complete="+hook,
		"--show-console-readout=false",
		"--summary-interval=0",
		"--console-log-level=warn",
		i.torrent,
	), nil
}
