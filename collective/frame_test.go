package collective

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestVectors checks that docs/wire.md has messages as they are encoded here, and that these are decoded.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### 7.14")
	section = strings.NewReplacer(" ", "", "\n", "").Replace(section)
	roster, err := proto.EncodeCBOR(newRoster([]entry{{ID: "\x12\xfe", Cluster: "B", Call: 2}, {ID: "\x12\xff", Cluster: "A", Call: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	part := header{Kind: kindPart, Run: 7, Op: 2, Call: call{Name: opAllReduce, Elem: 2, Size: 4}, Index: 1}
	for h, data := range map[header][]byte{part: []byte("ab"), {Kind: kindRoster, Run: 7}: roster} {
		h.Total = uint32(len(data))
		b := h.append(data)
		if !strings.Contains(section, hex.EncodeToString(b)) {
			t.Errorf("section 7.14 has no message %x", b)
		}
		if f, err := parse(b); err != nil || f.header != h || !bytes.Equal(f.data, data) {
			t.Errorf("%x is decoded as %+v, %v", b, f, err)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, headerSize-1), part.append([]byte("longer than its total"))} {
		if _, err := parse(b); err == nil {
			t.Errorf("%x is valid", b)
		}
	}
}
