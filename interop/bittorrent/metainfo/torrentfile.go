package metainfo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anacrolix/torrent/bencode"

	"github.com/mobgrid/mob/interop/bittorrent/bdecode"
	"github.com/mobgrid/mob/proto"
)

// Metainfo is a torrent file.
type Metainfo struct {
	*Torrent
	// Trackers are announce URLs in tiers (BEP 12): clients try a tier when the one
	// before fails. No tier is empty. [Parse] reads at most [proto.MaxLinkAddrs] URLs.
	Trackers [][]string
	// Comment, CreatedBy and Created are for display, and may be empty.
	Comment   string
	CreatedBy string
	Created   time.Time
}

// Parse decodes and validates a torrent file. The result does not keep b. It ignores bytes
// after the file's dictionary, and trackers, texts and times that are repeated, or of a type
// other than BEP 3 specifies. It rejects a second info dictionary: clients differ in which one
// they read.
func Parse(b []byte) (*Metainfo, error) {
	if len(b) > MaxFile {
		return nil, fmt.Errorf("torrent file of %d bytes, at most %d", len(b), MaxFile)
	}
	info, _, err := bdecode.ReadDict(b, "info")
	if err == nil && info["info"] == nil {
		err = errors.New("no info dictionary")
	}
	if err != nil {
		return nil, fmt.Errorf("torrent file: %w", err)
	}
	d, _, _ := bdecode.ReadFirst(b, "announce", "announce-list", "comment", "created by", "creation date") // b is a dictionary
	t, err := ParseInfo(slices.Clone(info["info"]))
	if err != nil {
		return nil, err
	}
	m := &Metainfo{
		Torrent: t, Trackers: tiers(d["announce-list"]),
		Comment: d.Text("comment"), CreatedBy: d.Text("created by"), Created: timeOf(d["creation date"]),
	}
	if announce := urls(d["announce"], 1); len(m.Trackers) == 0 && len(announce) > 0 {
		m.Trackers = [][]string{announce}
	}
	return m, nil
}

// tiers decodes an announce-list: a list of tiers, each a list of URLs. A tier, or the
// whole announce-list, may also be a single URL.
func tiers(list bdecode.Value) (all [][]string) {
	left := proto.MaxLinkAddrs
	if !list.IsList() {
		list = slices.Concat(bdecode.Value("l"), list, bdecode.Value("e"))
	}
	for v := range list.Elements() {
		tier := urls(v, left)
		if left -= len(tier); len(tier) > 0 {
			all = append(all, tier)
		}
		if left == 0 {
			break
		}
	}
	return all
}

// urls returns the first URLs of a list of URLs, or a single one.
func urls(v bdecode.Value, most int) (all []string) {
	if text, err := v.Text(); err == nil {
		if url := strings.TrimSpace(text); url != "" && most > 0 {
			return []string{url}
		}
		return nil
	}
	for e := range v.Elements() {
		if all = append(all, urls(e, most-len(all))...); len(all) == most {
			break
		}
	}
	return all
}

// timeOf decodes seconds since 1970, which some programs write as a string. It returns the zero
// time unless the year is 1970 to 9999.
func timeOf(v bdecode.Value) (t time.Time) {
	text, err := v.Text()
	if err != nil {
		text = strings.Trim(string(v[:min(len(v), 30)]), "ie")
	}
	if at, err := strconv.ParseInt(text, 10, 64); err == nil && at > 0 && at <= lastSecond {
		t = time.Unix(at, 0).UTC()
	}
	return t
}

// lastSecond ends the year 9999, the last of RFC 3339.
const lastSecond = 253402300799

// Encode encodes the torrent file. Equal values give equal bytes.
func (m *Metainfo) Encode() ([]byte, error) {
	d := fileDict{Comment: m.Comment, CreatedBy: m.CreatedBy, Info: m.Info}
	if !m.Created.IsZero() {
		d.Created = m.Created.Unix()
	}
	if len(m.Trackers) > 0 {
		d.Announce = m.Trackers[0][0]
	}
	if len(m.Trackers) > 1 || len(m.Trackers) == 1 && len(m.Trackers[0]) > 1 {
		d.AnnounceList = m.Trackers
	}
	return bencode.Marshal(d)
}

// fileDict is the encoding of a torrent file. The encoder sorts the keys.
type fileDict struct {
	Announce     string        `bencode:"announce,omitempty"`
	AnnounceList [][]string    `bencode:"announce-list,omitempty"`
	Comment      string        `bencode:"comment,omitempty"`
	CreatedBy    string        `bencode:"created by,omitempty"`
	Created      int64         `bencode:"creation date,omitempty"`
	Info         bencode.Bytes `bencode:"info"`
}
