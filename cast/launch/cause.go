package launch

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxLines bounds the lines of standard error that are kept, and maxLine their length in bytes.
	maxLines = 16
	maxLine  = 400
)

// tail is a writer that keeps the last lines of a text, and the first line of a crash.
type tail struct {
	lines []string
	crash string
	line  []byte // the start of the current line
}

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	for part := range bytes.Lines(b) {
		t.line = append(t.line, part[:min(len(part), maxLine-len(t.line))]...)
		if part[len(part)-1] == '\n' {
			t.endLine()
		}
	}
	return len(b), nil
}

// text returns the kept lines after the last write.
func (t *tail) text() string {
	t.endLine()
	return strings.Join(append([]string{t.crash}, t.lines...), "\n") + "\n"
}

func (t *tail) endLine() {
	text := clean(t.line)
	t.line = t.line[:0]
	if text == "" {
		return
	}
	t.lines = append(t.lines, text)
	t.lines = t.lines[max(0, len(t.lines)-maxLines):]
	if t.crash == "" && (strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")) {
		t.crash = text
	}
}

// clean removes unprintable characters.
func clean(line []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(line)))
}

// isNoise reports whether a line of ssh is not an error, or a line of srun or kubectl only contains the exit status.
func isNoise(line string) bool {
	begins := func(begin string) bool { return strings.HasPrefix(line, begin) }
	return slices.ContainsFunc([]string{"Warning: ", "Pseudo-terminal will not be allocated", "** ", "debug"}, begins) ||
		strings.Contains(line, "onnection to ") && strings.HasSuffix(line, "closed.") || strings.Contains(line, " with exit code ")
}

// isBusy reports whether ssh failed because a host had too many concurrent logins. ssh has no better message for this.
func isBusy(reason string) bool {
	return containsAny(reason, "exchange_identification", "banner exchange", "onnection reset by ", "onnection closed by ")
}

// isVague reports whether a line only reports the end of the connection. An earlier line may contain the reason.
func isVague(line string) bool {
	return isBusy(line) || containsAny(line, "stdio forwarding failed", "Disconnected from ") ||
		strings.HasPrefix(line, "Connection to ") && strings.HasSuffix(line, " timed out")
}

// isClear reports whether a line contains the reason why ssh, or a jump host, did not connect.
func isClear(line string) bool {
	return containsAny(line, "ssh: ", "ermission denied (", "Host key verification failed", "open failed: ", "Received disconnect from ")
}

func containsAny(line string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) })
}

// reason returns the line with the reason why a remote shell exited: the last line, unless an earlier line is clearer. It is
// empty without one.
func (t *tail) reason() (reason string) {
	for _, line := range slices.Backward(t.lines) {
		switch {
		case isNoise(line):
		case reason == "" && !isVague(line), reason != "" && isClear(line):
			return line
		case reason == "", isBusy(line) && !isBusy(reason):
			reason = line
		}
	}
	return reason
}

// cause returns the reason why a remote shell exited with a status, in one line. It does not name the host, so that equal
// reasons have equal texts. banner is the text on standard output, where login shells may print the reason.
func (t *tail) cause(shell, host string, status int, banner []byte) string {
	reason := t.reason()
	switch {
	case t.crash != "":
		return "the program has crashed: " + t.crash
	case status == 128+9:
		return "killed (signal 9)"
	case reason == "":
		var out tail
		_, _ = out.Write(banner)
		out.endLine()
		text := fmt.Sprintf("the remote shell ended with status %d", status)
		if said := out.reason(); said != "" {
			text += ": " + replace(said, `\b`+regexp.QuoteMeta(host)+`\b`, "%h")
		}
		return text
	}
	return anonymous(shell, host, reason)
}

// Patterns in messages of ssh. They are compiled when a host fails, as agents do not use them.
const (
	// peerPrefix is the remote host, before the reason.
	peerPrefix = `^(?:\S+@\S+|Could not resolve hostname \S+|channel \d+: open failed|kex_exchange_identification): `
	// peerSocket is the name or address and the port of the remote host.
	peerSocket = ` (?:(?:to host|to|by|from|with) )?\S+ port \d+(?::\d+)?`
	// peerName is the same without a port.
	peerName = `^(Connection|Timeout, server)(?: to)? \S+ (closed by|not)`
)

func replace(line, pattern, with string) string {
	return regexp.MustCompile(pattern).ReplaceAllString(line, with)
}

// anonymous returns a message of the remote shell or the script without the host and its address. In unknown places the
// name becomes %h.
func anonymous(shell, host, line string) string {
	if reason, ok := strings.CutPrefix(line, "mob: "); ok {
		return reason
	}
	if rest, ok := strings.CutPrefix(line, "ssh: "); ok {
		shell, line = "ssh", rest
	}
	line = replace(line, peerPrefix, "")
	line = strings.TrimPrefix(replace(line, peerSocket, ""), "connect: ")
	line = replace(line, peerName, "$1 $2")
	line = strings.TrimPrefix(strings.TrimSuffix(line, "."), host+": ")
	if _, name, found := strings.Cut(host, "@"); found {
		line, host = strings.ReplaceAll(line, host, "%h"), name
	}
	line = replace(line, `\b`+regexp.QuoteMeta(host)+`\b`, "%h")
	return shell + ": " + lowerFirst(line)
}

func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(first)) + s[size:]
}
