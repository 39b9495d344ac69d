package launch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// tail is the last lines of a text, and the first in it of a crash.
type tail struct {
	lines []string
	crash string
}

func (t *tail) readFrom(r io.Reader) {
	b := bufio.NewReaderSize(r, 4<<10)
	for begin := true; ; {
		part, err := b.ReadSlice('\n')
		if text := clean(part[:min(len(part), maxLine)]); begin && text != "" {
			t.lines = append(t.lines, text)
			t.lines = t.lines[max(0, len(t.lines)-maxLines):]
			if t.crash == "" && (strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")) {
				t.crash = text
			}
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
	for _, begin := range []string{"Warning: ", "Pseudo-terminal will not be allocated", "** ", "debug"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return strings.Contains(line, "onnection to ") && strings.HasSuffix(line, "closed.")
}

// isBusy reports whether ssh failed, by the reason that it gave, because the other end, or a host on the way, had too
// many logins at a time. It says so in no better way than this.
func isBusy(reason string) bool {
	return containsAny(reason, "exchange_identification", "banner exchange", "onnection reset by ", "onnection closed by ")
}

// isVague reports whether a line only says that the connection has ended: ssh may have said before why.
func isVague(line string) bool {
	return isBusy(line) || containsAny(line, "stdio forwarding failed", "Disconnected from ") ||
		strings.HasPrefix(line, "Connection to ") && strings.HasSuffix(line, " timed out")
}

// isClear reports whether a line says why ssh has not connected, or not to a host on the way.
func isClear(line string) bool {
	return containsAny(line, "ssh: ", "ermission denied (", "Host key verification failed", "open failed: ", "Received disconnect from ")
}

func containsAny(line string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) })
}

// reason returns the line that says why a remote shell has ended: the last on its standard error, unless another
// says more. It is empty if there is none.
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

// cause returns the reason why a remote shell ended with a status, in one line. It does not name the host, so that
// equal reasons are equal. A login shell may give the reason on standard output: banner is the text it printed there.
func (t *tail) cause(shell, host string, status int, banner []byte) string {
	reason := t.reason()
	switch {
	case t.crash != "":
		return "the program has crashed: " + t.crash
	case status == 128+9:
		return "killed (signal 9)"
	case reason == "":
		var out tail
		out.readFrom(bytes.NewReader(banner))
		text := fmt.Sprintf("the remote shell ended with status %d", status)
		if said := out.reason(); said != "" {
			text += ": " + replace(said, `\b`+regexp.QuoteMeta(host)+`\b`, "%h")
		}
		return text
	}
	return anonymous(shell, host, reason)
}

// Patterns of what ssh says. They are compiled when a host fails: agents have no use for them.
const (
	// peerPrefix is whom ssh speaks of, before the reason.
	peerPrefix = `^(?:\S+@\S+|Could not resolve hostname \S+|channel \d+: open failed|kex_exchange_identification): `
	// peerSocket is the other end of a connection: its name or address, and its port.
	peerSocket = ` (?:(?:to host|to|by|from|with) )?\S+ port \d+(?::\d+)?`
	// peerName is the same without a port.
	peerName = `^(Connection|Timeout, server)(?: to)? \S+ (closed by|not)`
)

// replace replaces what matches a pattern in a line.
func replace(line, pattern, with string) string {
	return regexp.MustCompile(pattern).ReplaceAllString(line, with)
}

// anonymous returns what a remote shell or the script said, without the host and its address. Where the name has no
// usual place it becomes %h.
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
