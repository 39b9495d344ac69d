package mob_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// describe is an action as a line of a scenario, empty for pings and pongs.
func describe(a mob.Action) string {
	switch a := a.(type) {
	case mob.Send:
		if text := words(a.Message); text != "" {
			return fmt.Sprintf("%s <- %s", a.Peer, text)
		}
		return ""
	case mob.Introduce:
		text := fmt.Sprintf("%s <- introduce", a.Peer)
		for _, n := range a.Members {
			text += fmt.Sprintf(" %s/%s", n.ID, n.Cluster)
		}
		return text
	case mob.Dial:
		return fmt.Sprintf("dial %s", a.Peer)
	case mob.Drop:
		return fmt.Sprintf("drop %s: %s", a.Peer, a.Why)
	case mob.Discard:
		return fmt.Sprintf("discard %d", a.Piece)
	}
	return "finished"
}

func words(m proto.Message) string {
	switch m := m.(type) {
	case *proto.Have:
		text := "have"
		for _, part := range []struct {
			name string
			rs   []proto.Range
		}{{"", m.Have}, {"claim ", m.Claim}, {"drop ", m.Drop}} {
			if len(part.rs) > 0 {
				text += " " + part.name + show(part.rs)
			}
		}
		return fmt.Sprintf("%s left %d", text, m.Left)
	case *proto.Want:
		return "want " + show(m.Pieces)
	case *proto.Request:
		return "request " + showSpan(m.Span)
	case *proto.Cancel:
		return "cancel " + showSpan(m.Span)
	case *proto.Reject:
		return "reject " + showSpan(m.Span)
	case *proto.Bad:
		return fmt.Sprintf("bad %d", m.Piece)
	case *proto.Steal:
		return fmt.Sprintf("steal %d", m.Rate)
	case *proto.Give:
		return "give " + show(m.Pieces)
	}
	return ""
}

// message is the inverse of words.
func message(f []string) (proto.Message, error) {
	switch f[0] {
	case "have": // have [RANGES] [claim RANGES] [drop RANGES] [left N]
		m := &proto.Have{}
		for i := 1; i < len(f); i++ {
			switch f[i] {
			case "claim":
				i++
				m.Claim = ranges(f[i])
			case "drop":
				i++
				m.Drop = ranges(f[i])
			case "left":
				i++
				n, _ := strconv.Atoi(f[i])
				m.Left = uint32(n)
			default:
				m.Have = ranges(f[i])
			}
		}
		return m, nil
	case "want":
		return &proto.Want{Pieces: ranges(f[1])}, nil
	case "give":
		return &proto.Give{Pieces: ranges(f[1])}, nil
	case "steal":
		n, err := strconv.Atoi(f[1])
		return &proto.Steal{Rate: uint64(n)}, err
	case "reject": // reject PIECE:KIB+KIB
		var m proto.Reject
		_, err := fmt.Sscanf(f[1], "%d:%d+%d", &m.Piece, &m.Begin, &m.Length)
		m.Begin, m.Length = m.Begin<<10, m.Length<<10
		return &m, err
	case "hello":
		return &proto.Hello{}, nil
	}
	return nil, fmt.Errorf("unknown message")
}

// ranges reads "0-3,7", and "-" as none.
func ranges(text string) []proto.Range {
	var rs []proto.Range
	for part := range strings.SplitSeq(text, ",") {
		first, last, found := strings.Cut(part, "-")
		if first == "" {
			continue
		}
		a, _ := strconv.Atoi(first)
		b := a
		if found {
			b, _ = strconv.Atoi(last)
		}
		rs = append(rs, proto.Range{First: uint32(a), Count: uint32(b - a + 1)})
	}
	return rs
}

func eachOf(text string, f func(i int)) {
	for _, r := range ranges(text) {
		for i := r.First; uint64(i) < r.End(); i++ {
			f(int(i))
		}
	}
}

func show(rs []proto.Range) string {
	if len(rs) == 0 {
		return "-"
	}
	var parts []string
	for _, r := range rs {
		if r.Count == 1 {
			parts = append(parts, strconv.Itoa(int(r.First)))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r.First, r.End()-1))
		}
	}
	return strings.Join(parts, ",")
}

// showSpan gives begin and length in KiB.
func showSpan(sp proto.Span) string {
	return fmt.Sprintf("%d:%d+%d", sp.Piece, sp.Begin>>10, sp.Length>>10)
}

func nodes(f []string) []mob.Node {
	ns := make([]mob.Node, len(f))
	for i, text := range f {
		id, cluster, _ := strings.Cut(text, "/")
		ns[i] = mob.Node{ID: proto.PeerID(id), Cluster: cluster}
	}
	return ns
}
