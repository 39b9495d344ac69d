package stock

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// bencode appends the one encoding that v has: a string, an int64, or a map of
// such by name. Other types are a mistake of the caller.
func bencode(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		b = strconv.AppendInt(b, int64(len(v)), 10)
		b = append(b, ':')
		return append(b, v...)
	case int64:
		b = append(b, 'i')
		b = strconv.AppendInt(b, v, 10)
		return append(b, 'e')
	case map[string]any:
		b = append(b, 'd')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = bencode(bencode(b, k), v[k])
		}
		return append(b, 'e')
	}
	panic(fmt.Sprintf("stock: no encoding for a %T", v))
}
