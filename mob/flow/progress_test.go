package flow

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestProgress checks that a span that was not sent is requested again, possibly in parts, unless it
// has arrived.
func TestProgress(t *testing.T) {
	const size = 5*proto.Cell + 100
	p := NewProgress(7, size)
	first := p.Next(3 * proto.Cell)
	rest := p.Next(size)
	if want := (proto.Span{Piece: 7, Begin: 3 * proto.Cell, Length: 2*proto.Cell + 100}); rest != want || !p.Requested() {
		t.Fatalf("the rest is %+v, want %+v; all is requested: %v", rest, want, p.Requested())
	}
	n := p.Add(rest)
	if n != 2*proto.Cell+100 || p.Add(rest) != 0 || p.Missing != 3*proto.Cell || !p.Has(rest) || p.Has(first) {
		t.Errorf("%d bytes were new, %d are missing", n, p.Missing)
	}
	p.GiveBack(rest)
	if !p.Requested() {
		t.Error("what has arrived is requested again")
	}
	p.GiveBack(first)
	if p.Requested() {
		t.Fatal("a span that was not sent is not requested again")
	}
	a, b := p.Next(proto.Cell), p.Next(size)
	if a.Length != proto.Cell || b.Begin != proto.Cell || b.Length != 2*proto.Cell {
		t.Errorf("%+v and %+v were requested again, want all of %+v", a, b, first)
	}
	for sp, want := range map[proto.Span]bool{
		first: true, rest: true, {Begin: 0, Length: size}: true, {Begin: 1, Length: proto.Cell}: false,
		{Begin: 0, Length: proto.Cell + 1}: false, {Begin: proto.Cell, Length: size}: false,
	} {
		if p.Fits(sp) != want {
			t.Errorf("%+v fits: %v, want %v", sp, !want, want)
		}
	}
}
