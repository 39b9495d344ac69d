package stock

import (
	"fmt"
	"os/exec"
)

// Aria2 is aria2, one process with one download.
func Aria2() *Client {
	return &Client{
		name:  "aria2",
		needs: []program{{command: "aria2c", pkg: "aria2"}},
		start: startAria2,
	}
}

func startAria2(s seat) (*exec.Cmd, error) {
	hook, err := s.hook()
	if err != nil {
		return nil, err
	}
	return s.command("aria2c",
		"--no-conf",
		"--dir="+s.data,
		fmt.Sprintf("--listen-port=%d", port),
		"--check-integrity=true", // takes up what is there, and the source's content is
		"--file-allocation=none", // by default it writes the whole file twice
		"--seed-ratio=0.0",       // by default it stops at 1.0
		"--bt-max-peers=0",       // by default 55, fewer than the largest grid has
		// While slower than this it goes on to look for peers; by default it has
		// enough of them at 50 KB/s.
		"--bt-request-peer-speed-limit=1000M",
		// The tracker and exchange of peers find all members; there is nobody else. But
		// aria2 speaks UDP with trackers only when it does with others too.
		fmt.Sprintf("--enable-dht=%t", s.scheme == "udp"),
		"--enable-dht6=false",
		"--bt-enable-lpd=false",
		"--disable-ipv6=true",
		"--on-bt-download-complete="+hook,
		"--show-console-readout=false",
		"--summary-interval=0",
		"--console-log-level=warn",
		s.torrent,
	), nil
}
