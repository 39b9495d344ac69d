package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// controls are all control characters and bidirectional controls.
func controls() string {
	var b strings.Builder
	for r := range rune(0x3000) {
		if isControl(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// TestJSONControls checks that no control character but the newline reaches the terminal, and that the JSON has the
// same text.
func TestJSONControls(t *testing.T) {
	t.Parallel()
	text := "a\u009b31m \u00a0é€😀 & " + controls()
	value := map[string]string{text: text}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"indented": func(b *bytes.Buffer) error { return (&App{Env: &Env{Out: b}, JSON: true}).Print(value, nil) },
		"line":     func(b *bytes.Buffer) error { return WriteJSONLine(b, value) },
		"log": func(b *bytes.Buffer) error {
			log, _, err := NewLog(b, "info", true)
			if err == nil {
				log.Info("m", text, text)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if i := strings.IndexFunc(b.String(), func(r rune) bool { return isControl(r) && r != '\n' }); i >= 0 {
				t.Errorf("%q has a control character at %d", &b, i)
			}
			var got map[string]any
			if err := json.Unmarshal(b.Bytes(), &got); err != nil || got[text] != text {
				t.Errorf("%q, %v; want %q", got, err, text)
			}
		})
	}
}

// TestJSONWriters checks that commands print JSON by the functions of json.go only.
func TestJSONWriters(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../*.go", "../*/*.go", "../../interop/mob-bench/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	other := regexp.MustCompile(`json\.(NewEncoder|Marshal)|NewJSONHandler\(w|\bwrite\((r, )?\w+\.Out`)
	for _, name := range files {
		dir := filepath.Base(filepath.Dir(name))
		if dir == "control" || dir == "web" || name == "../command/json.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if other.MatchString(line) && !strings.Contains(line, "WriteJSON") {
				t.Errorf("%s: %s", name, strings.TrimSpace(line))
			}
		}
	}
}
