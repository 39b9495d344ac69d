package transfer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// chosenPath returns the path in dir for a name that the content has, and that the user did not give. It fails if the
// name begins with a dot: in a home directory, shells and other programs read such files without being told. flag
// takes the path.
func chosenPath(dir, name, flag string) (string, error) {
	path := filepath.Join(dir, name)
	if strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("the name %s begins with a dot: to create it, give its path: %s %s", shellWord(name), flag, shellWord(path))
	}
	return path, nil
}

// shellWord returns text as one word for a shell.
func shellWord(text string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
	}
	if text != "" && strings.TrimLeftFunc(text, safe) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
