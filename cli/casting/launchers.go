package casting

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// launchers returns the commands for the values of --launch, see [cast.Config]. Each forwards standard input.
func launchers() map[string]string {
	return map[string]string{
		"ssh":     "ssh -T -oBatchMode=yes -oConnectTimeout=5",
		"srun":    "srun --overlap -N1 -n1 -w %h sh -c",
		"kubectl": "kubectl exec -i %h -- sh -c",
		"docker":  "docker exec -i %h sh -c",
		"lxc":     "lxc exec -T %h -- sh -c",
	}
}

func launcherNames() []string { return slices.Sorted(maps.Keys(launchers())) }

// parseShell returns the program of --launch or --rsh.
func (f *flags) parseShell() ([]string, error) {
	if f.set.Changed("rsh") {
		shell, err := splitCommand(f.shell)
		if err != nil {
			return nil, fmt.Errorf("--rsh: %w", err)
		}
		return shell, nil
	}
	line, ok := launchers()[f.launcher]
	switch {
	case f.launcher == "pdsh":
		return nil, errors.New("--launch pdsh: pdsh does not forward standard input: use ssh")
	case !ok:
		return nil, fmt.Errorf("--launch %q: must be one of %s", f.launcher, strings.Join(launcherNames(), ", "))
	}
	return splitCommand(line)
}

// splitCommand splits a command at its spaces. Single and double quotes keep spaces,
// as with rsync's --rsh; there are no backslashes.
func splitCommand(text string) (words []string, err error) {
	quoted := regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
	rest := quoted.ReplaceAllString(text, "")
	if i := strings.IndexAny(rest, `'"`); i >= 0 {
		return nil, fmt.Errorf("%q: the closing %c is missing", text, rest[i])
	}
	for _, word := range regexp.MustCompile(`('[^']*'|"[^"]*"|[^ \t'"])+`).FindAllString(text, -1) {
		words = append(words, quoted.ReplaceAllString(word, "$1$2"))
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the command is empty")
	}
	return words, nil
}
