package bittorrent

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	pp "github.com/anacrolix/torrent/peer_protocol"
)

// TestDecodingMemory decodes messages that are as expensive as a tracker or a client can make them.
func TestDecodingMemory(t *testing.T) {
	reply := func(b []byte) error { _, err := decodeReply(b); return err }
	extended := func(b []byte) error { _, err := decodeExtendedHandshake(b); return err }
	metadata := func(b []byte) error { _, _, err := decodeMetadata(b); return err }
	keys := func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, "7:%07x0:", i)
		}
		return "d" + b.String() + "e"
	}
	rest := func(value string, size int) string { return strings.Repeat(value, size/len(value)) }
	for _, c := range []struct {
		name   string
		decode func([]byte) error
		b      string
	}{
		{"reply of integers", reply, "d5:peersl" + rest("i0e", maxAnnounceReply) + "ee"},
		{"reply of lists", reply, "d5:peersl" + rest("le", maxAnnounceReply) + "ee"},
		{"reply of dictionaries", reply, "d5:peersl" + rest("de", maxAnnounceReply) + "ee"},
		{"reply of peers", reply, "d5:peersl" + rest("d2:ip2:::4:porti1ee", maxAnnounceReply) + "ee"},
		{"reply of compact peers", reply, fmt.Sprintf("d5:peers%d:%se", maxAnnounceReply, rest("x", maxAnnounceReply))},
		{"reply of keys", reply, keys(maxAnnounceReply)},
		{"handshake of an unknown list", extended, "d1:xl" + rest("le", maxExtended) + "ee"},
		{"handshake of extensions", extended, "d1:m" + keys(maxExtended) + "e"},
		{"handshake of keys", extended, keys(maxExtended)},
		{"metadata message of keys", metadata, keys(maxExtended)},
	} {
		least := uint64(math.MaxUint64) // of three, since other goroutines allocate, too
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := c.decode([]byte(c.b))
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if least > uint64(4*len(c.b)) {
			t.Errorf("%s: %d bytes for %d", c.name, least, len(c.b))
		}
	}
}

func TestDecodeReply(t *testing.T) {
	const compact4, compact6 = "\x01\x02\x03\x04\x1a\xe1", "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x1a\xe1"
	for _, c := range []struct{ in, want string }{
		{"d5:peers6:" + compact4 + "6:peers618:" + compact6 + "e", "[1.2.3.4:6881 [2001:db8::1]:6881]"},
		{"d5:peers8:" + compact4 + "xxe", "[1.2.3.4:6881]"},
		{"d5:peersld2:ip7:1.2.3.47:peer id1:x4:porti6881eed2:ip11:2001:db8::14:porti6881eeee", "[1.2.3.4:6881 [2001:db8::1]:6881]"},
		{"d5:peersli1ed2:ip1:x4:porti1eed2:ip7:1.2.3.4ed2:ip7:1.2.3.44:porti1eeee", "[1.2.3.4:1]"},
		{"d5:peersdee", "[]"},
		{"d5:peers6:" + compact4 + "ebytes after the end", "[1.2.3.4:6881]"},
	} {
		reply, err := decodeReply([]byte(c.in))
		if got := fmt.Sprint(peerAddrs(reply.Peers)); err != nil || got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.in, got, err, c.want)
		}
	}
	reply, err := decodeReply([]byte("d8:completei3e8:intervali99999999999e5:peers0:e"))
	if err != nil || reply.Interval != 1<<31-1 {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestDecodeExtendedHandshake(t *testing.T) {
	want := extendedHandshake{Mob: "12D3"}
	want.M = map[pp.ExtensionName]pp.ExtensionNumber{pp.ExtensionNameMetadata: 3}
	want.V, want.Reqq, want.Port, want.MetadataSize = "client 1.0", 250, 6881, 1234
	sent := want
	sent.YourIp = pp.CompactIp{1, 2, 3, 4}
	sent.Encryption = true
	got, err := decodeExtendedHandshake(sent.encode()[1:])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"de", "d1:mlee", "d1:md11:ut_metadatai256eee", "d1:md11:ut_metadata1:xee"} {
		if h, err := decodeExtendedHandshake([]byte(text)); err != nil || len(h.M) != 0 {
			t.Errorf("%q: %+v, %v", text, h, err)
		}
	}
}
