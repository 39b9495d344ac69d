package bdecode

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/anacrolix/torrent/bencode"
)

// decode decodes a value as package bencode does.
func decode(v Value) (any, error) {
	switch {
	case v.IsList():
		list := []any{}
		for e := range v.Elements() {
			d, err := decode(e)
			if err != nil {
				return nil, err
			}
			list = append(list, d)
		}
		return list, nil
	case v[0] == 'i':
		return v.Integer()
	case v[0] == 'd':
		// The keys are known once package bencode has decoded the dictionary.
		var known map[string]any
		if err := bencode.Unmarshal(v, &known); err != nil {
			return nil, err
		}
		d, after, err := ReadDict(v, slices.Collect(maps.Keys(known))...)
		if err != nil || after != 0 || len(d) != len(known) {
			return nil, fmt.Errorf("%d keys, %d bytes after them, %w", len(d), after, err)
		}
		values := map[string]any{}
		for key, v := range d {
			if values[key], err = decode(v); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		return values, nil
	}
	return v.Text()
}

// FuzzReadDict checks that dictionaries are read as package bencode reads them, if that encodes them in the same way.
func FuzzReadDict(f *testing.F) {
	for _, seed := range []string{
		"d8:announce8:http://t4:infod5:filesld6:lengthi3e4:pathl1:a1:beee4:name1:n12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
		"d4:infod6:lengthi3e4:name1:n12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaa7:privatei1eee",
		"d8:completei3e10:incompletei1e8:intervali1800e5:peers6:\x01\x02\x03\x04\x1a\xe16:peers60:e",
		"d8:intervali1800e5:peersld2:ip7:1.2.3.47:peer id1:x4:porti6881eeee",
		"d14:failure reason4:busye",
		"d1:md11:ut_metadatai3e6:ut_pexi1ee13:metadata_sizei31235e1:pi6881e4:reqqi250e1:v3:mob6:yourip4:\x01\x02\x03\x04e",
		"d5:added6:\x01\x02\x03\x04\x1a\xe17:added.f1:\x007:dropped0:e",
		"d8:msg_typei1e5:piecei0e10:total_sizei9eepiece",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, after, err := ReadDict(b)
		if err != nil {
			return
		}
		all := b[:len(b)-after]
		var want any
		if bencode.Unmarshal(all, &want) != nil {
			return
		}
		if again, err := bencode.Marshal(want); err != nil || !bytes.Equal(again, all) {
			return
		}
		if got, err := decode(Value(all)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v; package bencode: %v", all, got, err, want)
		}
	})
}

func TestReadDictRejects(t *testing.T) {
	for _, in := range []string{
		"", "d", "le", "i1e", "0:",
		"d1:a", "d1:ae", "d1:ai1", "d1:a5:bcde", "d1:al", "d1:ai1e", // truncated
		"di1ei2ee", "dlei1ee", // keys
		"d-1:ae", "d1:a-1:xe", "d1:a+1:xe", // lengths
		"d9223372036854775807:ae", "d9223372036854775808:ae", "d18446744073709551617:a0:e", "d99999999999999999999999:ae",
		"d1:ai1e1:ai2ee", // repeated
		"d1:x" + strings.Repeat("l", maxDepth) + strings.Repeat("e", maxDepth) + "e",
		"d1:x" + strings.Repeat("l", 1<<20), "d1:x" + strings.Repeat("d1:x", 1<<20),
	} {
		if d, _, err := ReadDict([]byte(in), "a"); err == nil {
			t.Errorf("%.40q: %v", in, d)
		}
	}
	if d, after, err := ReadFirst([]byte("d1:ai1e1:bi3e1:ai2eex"), "a", "b"); err != nil || after != 1 || d.Integer("a") != 1 || d.Integer("b") != 3 {
		t.Error("of a repeated key the first value does not count", d, after, err)
	}
	deepest := "d1:x" + strings.Repeat("l", maxDepth-1) + strings.Repeat("e", maxDepth-1) + "e"
	if _, _, err := ReadDict([]byte(deepest), "x"); err != nil {
		t.Error(err)
	}
	for _, in := range []string{"ie", "i-e", "i-0e", "i01e", "i+1e", "i1.5e", "i9223372036854775808e", "i-9223372036854775809e", "1:1", "", "le"} {
		if n, err := Value(in).Integer(); err == nil {
			t.Errorf("%q: %d", in, n)
		}
	}
}
