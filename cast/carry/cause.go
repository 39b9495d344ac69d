package carry

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxLines is how many lines of standard error are remembered, and maxLine how long they may be, in
	// bytes.
	maxLines = 16
	maxLine  = 400
)

// tail is the last lines of a text.
type tail struct{ lines []string }

func (t *tail) readFrom(r io.Reader) {
	b := bufio.NewReaderSize(r, 4<<10)
	for begin := true; ; {
		part, err := b.ReadSlice('\n')
		if text := clean(part[:min(len(part), maxLine)]); begin && text != "" {
			t.lines = append(t.lines, text)
			t.lines = t.lines[max(0, len(t.lines)-maxLines):]
		}
		begin = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// clean returns a line as a terminal may see it.
func clean(line []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(line)))
}

// isNoise reports whether a line is one that ssh prints and that is no reason for an end.
func isNoise(line string) bool {
	for _, begin := range []string{"Warning: Permanently added", "Pseudo-terminal will not be allocated", "** ", "debug"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return strings.Contains(line, "onnection to ") && strings.HasSuffix(line, "closed.")
}

// cause returns the reason why a remote shell ended with a status, in one line: the last on its standard
// error. It does not name the host, so that equal reasons are equal.
func cause(host string, lines []string, status int) string {
	if status == 128+9 {
		return "killed (signal 9)"
	}
	for _, line := range slices.Backward(lines) {
		if !isNoise(line) {
			return anonymous(host, line)
		}
	}
	return fmt.Sprintf("the remote shell ended with status %d", status)
}

// anonymous returns what ssh or the script said, without the host.
func anonymous(host, line string) string {
	if reason, ok := strings.CutPrefix(line, "mob: "); ok {
		return reason
	}
	_, name, found := strings.Cut(host, "@")
	if !found {
		name = host
	}
	for _, prefix := range []string{host + ": ", name + ": "} {
		if i := strings.Index(line, prefix); i >= 0 && !strings.Contains(line[:i], " ") {
			line = line[i+len(prefix):] // root@n1: Permission denied (publickey).
		}
	}
	line = strings.TrimSuffix(strings.TrimPrefix(line, "ssh: "), ".")
	line = strings.ReplaceAll(line, " "+name+" ", " ")
	for _, begin := range []string{"connect to host ", "Could not resolve hostname "} {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			if _, reason, ok := strings.Cut(rest, ": "); ok {
				line = reason
			}
		}
	}
	for _, event := range []string{"Connection closed by ", "Connection reset by "} {
		if i := strings.Index(line, event); i >= 0 {
			line = strings.TrimSuffix(event, " by ")
		}
	}
	return "ssh: " + lowerFirst(line)
}

func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(first)) + s[size:]
}

// isBusy reports whether ssh failed because the other end, or a host on the way, had too many logins at a time. It
// says so in no better way than this.
func isBusy(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(line, "exchange_identification") ||
			strings.Contains(line, "onnection reset") || strings.Contains(line, "onnection closed")
	})
}
