package metainfo

import (
	"bytes"
	"errors"
	"fmt"
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

// Parse decodes and validates a torrent file. The result does not keep b.
func Parse(b []byte) (*Metainfo, error) {
	if len(b) > MaxFile {
		return nil, fmt.Errorf("torrent file of %d bytes, at most %d", len(b), MaxFile)
	}
	p := fileParser{reader: reader{all: b}, m: new(Metainfo)}
	err := p.dict(p.key)
	if err == nil && p.info == nil {
		err = errors.New("it has no info dictionary")
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
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("torrent file: %w", err)
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
	switch key {
	case "announce":
		return p.string(&p.announce)
	case "announce-list":
		return p.list(p.tier)
	case "comment":
		return p.string(&p.m.Comment)
	case "created by":
		return p.string(&p.m.CreatedBy)
	case "creation date":
		var at int64
		at, err = p.integer()
		p.m.Created = time.Unix(at, 0).UTC()
		return err
	case "info":
		begin := p.at
		if err = p.skip(); err == nil {
			p.info = p.all[begin:p.at]
		}
		return err
	}
	return p.skip()
}

func (p *fileParser) string(to *string) error {
	b, err := p.text()
	*to = string(b)
	return err
}

// tier decodes a tier of trackers.
func (p *fileParser) tier() error {
	var tier []string
	err := p.list(func() error {
		b, err := p.text()
		if err == nil && len(b) > 0 && p.trackers < proto.MaxLinkAddrs {
			p.trackers++
			tier = append(tier, string(b))
		}
		return err
	})
	if len(tier) > 0 {
		p.m.Trackers = append(p.m.Trackers, tier)
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
