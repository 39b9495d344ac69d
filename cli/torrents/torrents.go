// Package torrents reads torrent files and describes them.
package torrents

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/proto"
)

// IsFile reports whether an argument is the path of a torrent file, by its name.
func IsFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && strings.HasSuffix(strings.ToLower(path), ".torrent")
}

// Read reads a torrent file. Of a larger one than there may be it reads no more
// than that.
func Read(path string) (*metainfo.Metainfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, metainfo.MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > metainfo.MaxFile {
		return nil, fmt.Errorf("%s: torrent file of more than %d bytes", path, metainfo.MaxFile)
	}
	m, err := metainfo.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Link is a link to what the torrent file is of, with its trackers in the order in which
// they are to be asked, as far as they have a place in a link.
func Link(m *metainfo.Metainfo) *proto.Link {
	link := &proto.Link{InfoHash: proto.InfoHash(m.Hash), Name: m.Name, Length: m.Length}
	for _, url := range slices.Concat(m.Trackers...) {
		if proto.CheckAnnounce(url) == nil && !slices.Contains(link.Announce, url) && len(link.Announce) < proto.MaxLinkAddrs {
			link.Announce = append(link.Announce, url)
		}
	}
	return link
}

// OfLink is what a link leads to, as a torrent file that has the link's trackers would say.
func OfLink(link *proto.Link, info []byte) (*metainfo.Metainfo, error) {
	t, err := metainfo.ParseInfo(info)
	if err != nil {
		return nil, err
	}
	return &metainfo.Metainfo{Torrent: t, Trackers: [][]string{link.Announce}}, nil
}

// Description is what inspect shows of a torrent file.
type Description struct {
	InfoHash    string     `json:"info_hash"`
	Name        string     `json:"name"`
	Bytes       int64      `json:"bytes"`
	Pieces      int        `json:"pieces"`
	PieceLength int64      `json:"piece_length"`
	Private     bool       `json:"private"`
	BTTrackers  []string   `json:"bt_trackers"`
	Comment     string     `json:"comment,omitempty"`
	CreatedBy   string     `json:"created_by,omitempty"`
	Created     *time.Time `json:"created,omitempty"`
	Files       []File     `json:"files"`
}

// File is a file of a torrent.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Pad  bool   `json:"pad,omitempty"`
}

// Describe is the description of a torrent file.
func Describe(m *metainfo.Metainfo) Description {
	d := Description{InfoHash: m.Hash.HexString(), Name: m.Name, Bytes: m.Length, Pieces: m.Pieces, PieceLength: m.PieceLength,
		Private: m.Private, BTTrackers: []string{}, Comment: m.Comment, CreatedBy: m.CreatedBy}
	for _, tier := range m.Trackers {
		d.BTTrackers = append(d.BTTrackers, tier...)
	}
	if !m.Created.IsZero() {
		d.Created = &m.Created
	}
	for _, f := range m.Files {
		d.Files = append(d.Files, File{cmp.Or(f.Path, m.Name), f.Length, f.Pad})
	}
	return d
}

// Print writes the description for people.
func (d Description) Print(out io.Writer) error {
	w := format.NewText(out)
	w.Line("name      %s", d.Name)
	w.Line("info-hash %s", d.InfoHash)
	w.Content(d.Bytes, d.Pieces, int64(d.PieceLength))
	if d.Private {
		w.Line("private   peers come from its trackers alone")
	}
	w.List("announce", d.BTTrackers)
	if d.Comment != "" {
		w.Line("comment   %s", d.Comment)
	}
	if d.CreatedBy != "" || d.Created != nil {
		at := ""
		if d.Created != nil {
			at = d.Created.Format(time.RFC3339)
		}
		w.Line("made      %s", strings.TrimSpace(d.CreatedBy+" "+at))
	}
	w.Line("files     %s", format.Count(len(d.Files), "file"))
	for _, f := range d.Files {
		note := ""
		if f.Pad {
			note = " (padding)"
		}
		w.Line("  %9s  %s%s", format.Size(f.Size), f.Path, note)
	}
	return w.Flush()
}
