package feed

import (
	"encoding/binary"
	"maps"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/proto"
)

// Messages of a feed's group start with their kind.
const (
	kindHead    = 1 // a signed head
	kindContent = 2 // the version, 8 bytes, big endian, and all bytes of its content
	kindReport  = 3 // a report to the publisher
)

// contentHead is the length of what precedes pushed content, in bytes.
const contentHead = 9

func headMessage(h *Head) []byte { return append([]byte{kindHead}, h.signed...) }

// headOf returns the head in a message.
func headOf(message []byte) (signed []byte, ok bool) {
	if len(message) == 0 || message[0] != kindHead {
		return nil, false
	}
	return message[1:], true
}

func contentMessage(seq uint64, content []byte) []byte {
	b := binary.BigEndian.AppendUint64(append(make([]byte, 0, contentHead+len(content)), kindContent), seq)
	return append(b, content...)
}

// contentOf returns the content in a message, and its version.
func contentOf(message []byte) (seq uint64, content []byte, ok bool) {
	if len(message) < contentHead || message[0] != kindContent {
		return 0, nil, false
	}
	return binary.BigEndian.Uint64(message[1:]), message[contentHead:], true
}

// Report is the last report of a follower to the publisher.
type Report struct {
	Node    libpeer.ID `json:"id"`
	Cluster string     `json:"cluster"`
	// Seq is the newest version that the follower has complete, 0 if it has not reported. Saved is the number of its bytes that were not fetched.
	Seq   uint64    `json:"complete"`
	Saved int64     `json:"saved"`
	Time  time.Time `json:"time,omitzero"`
}

// wireReport is the encoding of a report.
type wireReport struct {
	_     struct{} `cbor:",toarray"`
	Seq   uint64
	Saved int64
}

// maxReports bounds the reports that a publisher remembers: the members of a group.
const maxReports = 1024

// addReport adds a report from a member. It ignores versions after the newest one. If there are too many, it forgets the reports of nodes
// that are not members any more.
func (p *publisher) addReport(m *group.Message) {
	var w wireReport
	if len(m.Bytes) == 0 || m.Bytes[0] != kindReport || proto.DecodeCBOR(m.Bytes[1:], &w) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest == nil || w.Seq > p.newest.Seq || w.Saved < 0 {
		return
	}
	if len(p.reports) >= maxReports {
		present := map[libpeer.ID]bool{}
		for _, member := range p.group.Members() {
			present[member.ID] = true
		}
		maps.DeleteFunc(p.reports, func(id libpeer.ID, _ Report) bool { return !present[id] })
	}
	p.reports[m.From] = Report{Node: m.From, Seq: w.Seq, Saved: w.Saved, Time: time.Now()}
}

// followers returns a report for each member of the group, which is empty if the member did not report.
func (p *publisher) followers() (all []Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.group.Members() {
		report := p.reports[m.ID]
		report.Node, report.Cluster = m.ID, m.Cluster
		all = append(all, report)
	}
	return all
}
