package proto

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestReadMessageInSequence(t *testing.T) {
	var stream bytes.Buffer
	for _, m := range samples() {
		if err := WriteMessage(&stream, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range samples() {
		got, err := ReadMessage(&stream)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
	}
	if _, err := ReadMessage(&stream); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF itself", err)
	}
}

func TestReadMessageTruncated(t *testing.T) {
	for _, m := range samples() {
		frame := frameOf(t, m)
		for n := 1; n < len(frame); n++ {
			if _, err := ReadMessage(bytes.NewReader(frame[:n])); err != io.ErrUnexpectedEOF {
				t.Fatalf("%T cut after %d of %d bytes: %v", m, n, len(frame), err)
			}
		}
	}
}

func TestReadMessageFrameLimits(t *testing.T) {
	largest := append([]byte{0, 0x10, 0, 0, byte(TypeOf(&Ping{}))}, make([]byte, MaxFrame-1)...)
	for _, tt := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"no type", []byte{0, 0, 0, 0, 10}, "frame of 0 bytes, want 1 to 1048576"},
		{"no body", []byte{0, 0, 0, 1, byte(TypeOf(&Ping{}))}, "EOF"},
		{"largest", largest, "message type 10"},
		{"too large", append([]byte{0, 0x10, 0, 1}, largest[4:]...), "frame of 1048577 bytes, want 1 to 1048576"},
		{"huge", []byte{255, 255, 255, 255, 10}, "frame of 4294967295 bytes"},
		{"type 0", []byte{0, 0, 0, 2, 0, 0x80}, "message type 0 is unknown"},
		{"type 63", []byte{0, 0, 0, 2, 63, 0x80}, "message type 63 is unknown"},
		{"type 255", []byte{0, 0, 0, 2, 255, 0x80}, "message type 255 is unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := bytes.NewReader(tt.frame)
			_, err := ReadMessage(r)
			checkError(t, err, tt.want)
			// It must stop after the header or at the end of the frame.
			if read := len(tt.frame) - r.Len(); read != frameHeader && read != len(tt.frame) {
				t.Errorf("read %d of %d bytes", read, len(tt.frame))
			}
		})
	}
	if n := allocated(func() { _, _ = ReadMessage(bytes.NewReader([]byte{255, 255, 255, 255, 10})) }); n > 64<<10 {
		t.Errorf("reading a frame that is too large allocated %d bytes", n)
	}
}

// A frame that claims the most bytes, and sends few, costs a reader few.
func TestReadMessageAllocatesWhatArrives(t *testing.T) {
	for _, sent := range []int{0, 1000, 10_000, 100_000} {
		frame := append([]byte{0, 0x10, 0, 0, byte(TypeOf(&Members{}))}, make([]byte, sent)...)
		n := allocated(func() { _, _ = ReadMessage(bytes.NewReader(frame)) })
		if limit := uint64(4*sent + 16<<10); n > limit {
			t.Errorf("after %d bytes of a frame that claims %d, %d were allocated, want at most %d", sent, MaxFrame, n, limit)
		}
	}
}

// The largest message that may open a stream is accepted, a larger one is rejected unread.
func TestReadOpening(t *testing.T) {
	hello := &Hello{Swarm: make([]byte, MaxCID), Cluster: strings.Repeat("c", MaxCluster), Features: 1<<64 - 1}
	announce := &Announce{Swarm: hello.Swarm, Cluster: hello.Cluster, Have: MaxPieces, Total: MaxPieces}
	for range MaxAddrs {
		hello.Addrs = append(hello.Addrs, make([]byte, MaxAddr))
	}
	announce.Addrs = hello.Addrs
	for _, want := range []Message{hello, announce, &Goodbye{Text: strings.Repeat("t", MaxText)}} {
		got, err := ReadOpening(bytes.NewReader(frameOf(t, want)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %v", want, err)
		}
	}
	r := bytes.NewReader(append([]byte{0, 0, 0x20, 1, byte(TypeOf(&Hello{}))}, make([]byte, MaxOpening)...))
	_, err := ReadOpening(r)
	checkError(t, err, "frame of 8193 bytes, want 1 to 8192")
	if r.Len() != MaxOpening {
		t.Errorf("read %d bytes of the body", MaxOpening-r.Len())
	}
}

func TestAppendFrameAppends(t *testing.T) {
	head := []byte("head")
	got, err := AppendFrame(head, &Ping{Nonce: 1})
	if err != nil || !bytes.Equal(got, append([]byte("head"), 0, 0, 0, 3, 10, 0x81, 1)) {
		t.Errorf("got %x, %v", got, err)
	}
	got, err = AppendFrame(head, &Bad{Piece: MaxPieces})
	checkError(t, err, "message type 7: bad piece 2097152")
	if !bytes.Equal(got, head) {
		t.Errorf("after an error: %x", got)
	}
}

// Limits are per list. A message with several lists can exceed a frame.
func TestAppendFrameTooLarge(t *testing.T) {
	m := Member{ID: "id", Cluster: "A"}
	for range MaxAddrs {
		m.Addrs = append(m.Addrs, make([]byte, MaxAddr))
	}
	all := &Members{}
	for range MaxMembers {
		all.Members = append(all.Members, m)
	}
	_, err := AppendFrame(nil, all)
	checkError(t, err, "at most 1048575")
	all.Members = all.Members[:MaxMembers/8]
	if _, err := AppendFrame(nil, all); err != nil {
		t.Error(err)
	}
}

func TestLargestHaveFitsAFrame(t *testing.T) {
	rs := make([]Range, MaxRanges)
	for i := range rs {
		rs[i] = Range{First: 1<<20 + uint32(i)*64, Count: 1}
	}
	want := &Have{Have: rs, Claim: rs, Drop: rs, Left: 1 << 31}
	got, err := ReadMessage(bytes.NewReader(frameOf(t, want)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v", err)
	}
}

func TestWriteMessage(t *testing.T) {
	w := &writes{}
	if err := WriteMessage(w, &Ping{Nonce: 1}); err != nil || w.n != 1 {
		t.Errorf("%d writes, %v, want 1", w.n, err)
	}
	if err := WriteMessage(w, &Bad{Piece: MaxPieces}); err == nil || w.n != 1 {
		t.Errorf("invalid message: %v, %d writes", err, w.n)
	}
	w.err = errors.New("broken")
	if err := WriteMessage(w, &Ping{}); err != w.err {
		t.Errorf("got %v, want the writer's error", err)
	}
}

// writes counts calls of Write, which return err.
type writes struct {
	n   int
	err error
}

func (w *writes) Write(b []byte) (int, error) {
	w.n++
	return len(b), w.err
}
