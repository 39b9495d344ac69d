package carry

import (
	"strings"
	"testing"
)

func TestCause(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ssh: connect to host n4 port 22: Connection timed out\r\n":                                      "ssh: connection timed out",
		"ssh: connect to host 10.1.2.3 port 2222: No route to host":                                      "ssh: no route to host",
		"ssh: Could not resolve hostname n4: Name or service not known":                                  "ssh: name or service not known",
		"me@n4: Permission denied (publickey).":                                                          "ssh: permission denied (publickey)",
		"@@@@@@\n@ WARNING @\nHost key verification failed.":                                             "ssh: host key verification failed",
		"No ED25519 host key is known for n4 and ...\nHost key verification failed.\n":                   "ssh: host key verification failed",
		"kex_exchange_identification: Connection closed by remote host\nConnection closed by n4 port 22": "ssh: connection closed",
		"Connection reset by 10.0.0.1 port 22":                                                           "ssh: connection reset",
		"Warning: Permanently added 'n4' (ED25519) to the list of known hosts.":                          "the remote shell ended with status 5",
		"Unauthorized use is prohibited\nmob: gzip is missing\nShared connection to n4 closed.\n":        "gzip is missing",
		"\x1b[31mred\x1b[0m\x07": "ssh: [31mred[0m",
		"":                       "the remote shell ended with status 5",
		"first\n" + strings.Repeat("x", 10000) + "\n": "ssh: " + strings.Repeat("x", maxLine),
		"Timeout, server n4 not responding.":          "ssh: timeout, server not responding",
	} {
		var tl tail
		tl.readFrom(strings.NewReader(text))
		if got := cause("n4", tl.lines, 5); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
