package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/interop/bittorrent/metainfo"
)

// isTorrent reports whether an argument is the path of a torrent file, by its name.
func isTorrent(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && strings.HasSuffix(strings.ToLower(path), ".torrent")
}

// readTorrent reads a torrent file. Of a larger one than there may be it reads no more
// than that.
func readTorrent(path string) (*metainfo.Metainfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, metainfo.MaxFile+1))
	if err != nil {
		return nil, err
	}
	m, err := metainfo.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// torrentDescription is what inspect shows of a torrent file.
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
	d := torrentDescription{InfoHash: m.Hash.HexString(), Name: m.Name, Bytes: m.Length, Pieces: m.Pieces, PieceLength: m.PieceLength,
		Private: m.Private, BTTrackers: []string{}, Comment: m.Comment, CreatedBy: m.CreatedBy}
	for _, tier := range m.Trackers {
		d.BTTrackers = append(d.BTTrackers, tier...)
	}
	if !m.Created.IsZero() {
		d.Created = &m.Created
	}
	for _, f := range m.Files {
		d.Files = append(d.Files, torrentFile{cmp.Or(f.Path, m.Name), f.Length, f.Pad})
	}
	return d
}

func (g *global) inspectTorrent(path string) error {
	m, err := readTorrent(path)
	if err != nil {
		return err
	}
	d := newTorrentDescription(m)
	if g.json {
		return printJSON(g.Out, d)
	}
	return d.print(g.Out)
}

func (d torrentDescription) print(out io.Writer) error {
	w := bufio.NewWriter(out)
	line := func(format string, args ...any) { fmt.Fprintln(w, printable(fmt.Sprintf(format, args...))) }
	line("name      %s", d.Name)
	line("info-hash %s", d.InfoHash)
	line("size      %s (%s bytes)", size(d.Bytes), humanize.Comma(d.Bytes))
	line("pieces    %s of %s", humanize.Comma(int64(d.Pieces)), humanize.IBytes(uint64(d.PieceLength)))
	if d.Private {
		line("private   peers come from its trackers alone")
	}
	for i, t := range d.BTTrackers {
		line("%s%s", label("announce", i), t)
	}
	if d.Comment != "" {
		line("comment   %s", d.Comment)
	}
	if d.CreatedBy != "" || d.Created != nil {
		at := ""
		if d.Created != nil {
			at = d.Created.Format(time.RFC3339)
		}
		line("made      %s", strings.TrimSpace(d.CreatedBy+" "+at))
	}
	line("files     %s", count(len(d.Files), "file"))
	for _, f := range d.Files {
		note := ""
		if f.Pad {
			note = " (padding)"
		}
		line("  %9s  %s%s", size(f.Size), f.Path, note)
	}
	return w.Flush()
}
