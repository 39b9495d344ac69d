package daemon

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// rootField matches the path of a transfer or a feed in an event, and the directory of the path.
var rootField = regexp.MustCompile(`"root":"((?:[^"\\]|\\.)+)/[^"/]*"`)

// hideDirectories replaces the directories of the transfers and feeds in an event of the page, also in errors.
func hideDirectories(event string) string {
	var dirs []string
	for _, field := range rootField.FindAllStringSubmatch(event, -1) {
		dirs = append(dirs, field[1])
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	var pairs []string
	for _, dir := range slices.Compact(dirs) {
		pairs = append(pairs, dir, "…")
	}
	return strings.NewReplacer(pairs...).Replace(event)
}
