package metainfo

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/anacrolix/torrent/bencode"

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
// after the file's dictionary, and trackers, texts and times of a type other than BEP 3
// specifies.
func Parse(b []byte) (*Metainfo, error) {
	if len(b) > MaxFile {
		return nil, fmt.Errorf("torrent file of %d bytes, at most %d", len(b), MaxFile)
	}
	p := fileParser{reader: reader{all: b}, m: new(Metainfo)}
	err := p.dict(p.key)
	if err == nil && p.info == nil {
		err = errors.New("no info dictionary")
	}
	if err != nil {
		return nil, fmt.Errorf("torrent file: %w", err)
	}
	m := p.m
	if len(m.Trackers) == 0 && p.announce != "" {
		m.Trackers = [][]string{{p.announce}}
	}
	if m.Torrent, err = ParseInfo(bytes.Clone(p.info)); err != nil {
		return nil, err
	}
	return m, nil
}

// fileParser decodes a torrent file.
type fileParser struct {
	reader
	m        *Metainfo
	announce string
	info     []byte
	trackers int // in m.Trackers
}

// key decodes the value of a key.
func (p *fileParser) key(key string) (err error) {
	begin := p.at
	switch key {
	case "announce":
		return p.urls(func(url string) {
			if p.announce == "" {
				p.announce = url
			}
		})
	case "announce-list":
		return p.tiers()
	case "comment":
		return p.string(&p.m.Comment)
	case "created by":
		return p.string(&p.m.CreatedBy)
	case "creation date":
		p.m.Created, err = p.time()
		return err
	case "info":
		if err = p.skip(); err == nil {
			p.info = p.all[begin:p.at]
		}
		return err
	}
	return p.skip()
}

func (p *fileParser) string(to *string) error {
	b, err := p.optional()
	*to = string(b)
	return err
}

// time decodes seconds since 1970, which some programs write as a string. It returns the zero
// time unless the year is 1970 to 9999.
func (p *fileParser) time() (t time.Time, err error) {
	begin := p.at
	if err := p.skip(); err != nil {
		return t, err
	}
	text := string(p.all[begin:p.at])
	if _, digits, ok := strings.Cut(text, ":"); ok {
		text = digits
	} else {
		text = strings.Trim(text, "ie")
	}
	if at, err := strconv.ParseInt(text, 10, 64); err == nil && at > 0 && at <= lastSecond {
		t = time.Unix(at, 0).UTC()
	}
	return t, nil
}

// lastSecond ends the year 9999, the last of RFC 3339.
const lastSecond = 253402300799

// tiers decodes an announce-list: a list of tiers, each a list of URLs. A tier, or the
// whole announce-list, may also be a single URL.
func (p *fileParser) tiers() error {
	tier := func() error {
		var tier []string
		err := p.urls(func(url string) {
			if p.trackers < proto.MaxLinkAddrs {
				p.trackers++
				tier = append(tier, url)
			}
		})
		if len(tier) > 0 {
			p.m.Trackers = append(p.m.Trackers, tier)
		}
		return err
	}
	if p.next() == 'l' {
		return p.list(tier)
	}
	return tier()
}

// urls calls each for every non-empty string in a value.
func (p *fileParser) urls(each func(url string)) error {
	if p.next() == 'l' {
		return p.list(func() error { return p.urls(each) })
	}
	b, err := p.optional()
	if url := strings.TrimSpace(string(b)); err == nil && url != "" {
		each(url)
	}
	return err
}

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
