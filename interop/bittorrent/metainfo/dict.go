package metainfo

import (
	"errors"
	"fmt"

	"github.com/anacrolix/torrent/bencode"
)

// dict has the encoded values of a dictionary by their keys.
type dict map[string]bencode.Bytes

// readDict reads a dictionary, and returns the number of bytes after it. Like clients, it accepts keys in any order, and
// any value of an unknown key.
func readDict(b []byte) (d dict, after int, err error) {
	if len(b) == 0 || b[0] != 'd' {
		return nil, 0, errors.New("want a dictionary")
	}
	err = bencode.Unmarshal(b, &d)
	if trailing := (bencode.ErrUnusedTrailingBytes{}); errors.As(err, &trailing) {
		after, err = trailing.NumUnusedBytes, nil
	}
	if err != nil {
		return nil, 0, err
	}
	// The decoder keeps the last value of a key.
	if again, err := bencode.Marshal(d); err != nil || len(again) != len(b)-after {
		return nil, 0, errors.New("duplicate key")
	}
	return d, after, nil
}

// get decodes the value of a key into v, if there is one.
func (d dict) get(key string, v any) error {
	if d[key] == nil {
		return nil
	}
	if err := bencode.Unmarshal(d[key], v); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (d dict) text(key string) string { return textOf(d[key]) }

func textOf(value bencode.Bytes) (text string) {
	_ = bencode.Unmarshal(value, &text) // "" on an error
	return text
}
