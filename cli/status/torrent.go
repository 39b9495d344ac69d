package status

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
	"github.com/mobgrid/mob/proto"
)

// torrentDescription is a torrent, for inspect.
type torrentDescription struct {
	InfoHash    string        `json:"info_hash"`
	Name        string        `json:"name"`
	Bytes       int64         `json:"bytes"`
	Pieces      int           `json:"pieces"`
	PieceLength int64         `json:"piece_length"`
	Private     bool          `json:"private"`
	BTTrackers  []string      `json:"bt_trackers"`
	Comment     string        `json:"comment,omitempty"`
	CreatedBy   string        `json:"created_by,omitempty"`
	Created     *time.Time    `json:"created,omitempty"`
	Files       []torrentFile `json:"files"`
}

// torrentFile is a file of a torrent.
type torrentFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Pad  bool   `json:"pad,omitempty"`
}

func newTorrentDescription(m *metainfo.Metainfo) torrentDescription {
	d := torrentDescription{
		InfoHash:    m.Hash.String(),
		Name:        m.Manifest.Name,
		Bytes:       m.Manifest.Length(),
		Pieces:      m.Manifest.Pieces(),
		PieceLength: int64(m.Manifest.PieceLength),
		Private:     m.Private,
		BTTrackers:  append([]string{}, slices.Concat(m.Trackers...)...),
		Comment:     m.Comment,
		CreatedBy:   m.CreatedBy,
	}
	if !m.Created.IsZero() {
		d.Created = &m.Created
	}
	for _, e := range m.Manifest.Entries {
		switch e.Kind {
		case proto.File:
			d.Files = append(d.Files, torrentFile{Path: cmp.Or(e.Path, m.Manifest.Name), Size: e.Size})
		case proto.Pad:
			d.Files = append(d.Files, torrentFile{Path: ".pad/" + strconv.FormatInt(e.Size, 10), Size: e.Size, Pad: true})
		}
	}
	return d
}

// print writes the description for people.
func (d torrentDescription) print(w term.TextWriter) {
	w.Line("name      %s", d.Name)
	w.Line("info-hash %s", d.InfoHash)
	w.Size(d.Bytes, d.Pieces, d.PieceLength)
	if d.Private {
		w.Line("private   peers come from its trackers only")
	}
	term.List(w, "announce", d.BTTrackers)
	if d.Comment != "" {
		w.Line("comment   %s", d.Comment)
	}
	if d.CreatedBy != "" || d.Created != nil {
		at := ""
		if d.Created != nil {
			at = d.Created.Format(time.RFC3339)
		}
		w.Line("created   %s", strings.TrimSpace(d.CreatedBy+" "+at))
	}
	w.Line("files     %s", term.Plural(len(d.Files), "file"))
	for _, f := range d.Files {
		note := ""
		if f.Pad {
			note = " (padding)"
		}
		w.Line("  %9s  %s%s", term.Bytes(f.Size), f.Path, note)
	}
}
