package daemon

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/peer"
)

// readKeep reads the table [keep] of mobd's configuration.
func readKeep(value any) (k peer.Keep, err error) {
	table, ok := value.(map[string]any)
	if !ok {
		return k, fmt.Errorf("must have lines such as for = \"30d\", not %v", value)
	}
	for key, v := range table {
		text, _ := v.(string)
		want := "true or false"
		switch key {
		case "for":
			k.For, err = parseKeepFor(text)
			ok, want = k.For > 0, `text such as "30d" or "12h"`
		case "disk":
			k.Disk, err = parseKeepDisk(text)
			ok, want = k.Disk > 0, `text such as "500GB"`
		case "delete":
			k.Delete, ok = v.(bool)
		default:
			return k, fmt.Errorf("%s: no such key: there are for, disk and delete", key)
		}
		if err != nil || !ok {
			return k, fmt.Errorf("%s: %v: must be %s", key, v, want)
		}
	}
	if k.Disk > 0 && !k.Delete {
		return k, errors.New("disk needs delete = true: without it the files of a transfer stay when it ends")
	}
	return k, nil
}

// parseKeepFor parses a time with a unit, which may be d for days.
func parseKeepFor(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

// parseKeepDisk parses a number of bytes with a unit. It returns 0 for a number without one.
func parseKeepDisk(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if _, bare := strconv.ParseFloat(text, 64); bare == nil || n > 1<<62 {
		return 0, err
	}
	return int64(n), err
}
