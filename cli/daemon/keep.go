package daemon

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/peer"
)

// keepTable is the table [keep] of mobd's configuration.
type keepTable struct{ keep peer.Keep }

// readTable reads the table.
func (k *keepTable) readTable(value any) error {
	table, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("must have lines such as for = \"30d\", not %v", value)
	}
	k.keep = peer.Keep{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if err := k.set(key, table[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if k.keep.Disk > 0 && !k.keep.Delete {
		return errors.New("disk needs delete = true: without it the files of a transfer stay when it ends")
	}
	return nil
}

func (k *keepTable) set(key string, value any) (err error) {
	text, isText := value.(string)
	switch key {
	case "for":
		k.keep.For, err = parseKeepFor(text)
	case "disk":
		k.keep.Disk, err = parseKeepDisk(text)
	case "delete":
		if k.keep.Delete, isText = value.(bool); !isText {
			return fmt.Errorf("must be true or false, not %v", value)
		}
		return nil
	default:
		return errors.New("no such key: there are for, disk and delete")
	}
	if err != nil || !isText {
		return fmt.Errorf("%v: must be text such as %s", value, map[string]string{"for": `"30d" or "12h"`, "disk": `"500GB"`}[key])
	}
	return nil
}

// parseKeepFor parses a time with a unit, which may be d for days.
func parseKeepFor(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil && n == 0 {
			err = strconv.ErrRange
		}
		return time.Duration(n) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = strconv.ErrRange
	}
	return d, err
}

// parseKeepDisk parses a number of bytes with a unit.
func parseKeepDisk(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if _, bare := strconv.ParseFloat(text, 64); err == nil && (n == 0 || n > 1<<62 || bare == nil) {
		err = strconv.ErrRange
	}
	return int64(n), err
}
