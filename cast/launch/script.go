package launch

import (
	_ "embed" // for launchScript
	"fmt"
	"strings"
)

// launchScript is the readable form of the script that runs on a host, see [script].
//
//go:embed launch.sh
var launchScript string

// script returns the command line that runs one of the programs on a host, for any shell. Other users of the host can read it.
func script(programs *Programs, keep, attachable bool) string {
	var platforms []string
	for _, p := range programs.all {
		platforms = append(platforms, p.scriptCase())
	}
	word := map[bool]string{false: `""`, true: "1"}
	text := strings.NewReplacer(
		"@PLATFORMS@", strings.Join(platforms, "\n"), "@KEEP@", word[keep], "@ATTACH@", word[attachable],
	).Replace(launchScript)
	var line []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			line = append(line, l)
		}
	}
	return "exec sh -c '" + strings.Join(line, " ") + "'"
}

// scriptCase returns the branch of the script for the platform of the program.
func (p *program) scriptCase() string {
	var names []string
	for _, name := range unames(p.platform) {
		names = append(names, `"`+name+`"`)
	}
	return fmt.Sprintf(`%s) n=%s; i=%s; j=%s; z=%d; v=%s; p="%s"; a="%s"; k=%d;;`, strings.Join(names, "|"),
		p.name, p.built, p.stripped, p.size>>16+1, p.version(), plain(p.path), p.args, p.space()>>10)
}

// plain returns the path if shells do not change it within double quotes that are within single quotes, else an empty path.
func plain(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r > '~' || r < ' ' || strings.ContainsRune("!\"$'\\`", r) }) {
		return ""
	}
	return path
}
