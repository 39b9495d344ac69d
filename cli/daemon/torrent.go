package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/proto"
)

// IsTorrent reports whether path is a file with the name of a torrent file.
func IsTorrent(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && strings.HasSuffix(strings.ToLower(path), ".torrent")
}

// ReadTorrent reads and checks a torrent file of at most [metainfo.MaxFile] bytes.
func ReadTorrent(path string) (*metainfo.Metainfo, error) {
	b, err := command.ReadFile(path, "torrent file", metainfo.MaxFile)
	if err != nil {
		return nil, err
	}
	m, err := metainfo.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// TorrentLink returns the link of a torrent file. It has the trackers in their
// order, less those that a link cannot hold.
func TorrentLink(m *metainfo.Metainfo) *proto.Link {
	link := &proto.Link{InfoHash: m.Hash, Name: m.Manifest.Name, Length: m.Manifest.Length()}
	for _, url := range slices.Concat(m.Trackers...) {
		if proto.CheckAnnounce(url) == nil && !slices.Contains(link.Announce, url) && len(link.Announce) < proto.MaxLinkAddrs {
			link.Announce = append(link.Announce, url)
		}
	}
	return link
}
