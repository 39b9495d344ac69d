package launch

import (
	"strings"
	"testing"
)

func TestCause(t *testing.T) {
	t.Parallel()
	const reset = "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.0.0.1 port 22"
	const hidden = "kex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535"
	for text, want := range map[string]string{
		"ssh: connect to host n4 port 22: Connection timed out\r\n":                    "ssh: connection timed out",
		"ssh: connect to host 10.1.2.3 port 2222: No route to host":                    "ssh: no route to host",
		"ssh: connect to host fe80::1%eth0 port 22: Connection refused":                "ssh: connection refused",
		"ssh: Could not resolve hostname n4: Name or service not known":                "ssh: name or service not known",
		"me@n4: Permission denied (publickey).":                                        "ssh: permission denied (publickey)",
		"root@10.1.2.3: Permission denied (publickey,password).":                       "ssh: permission denied (publickey,password)",
		"@@@@@@\n@ WARNING @\nHost key verification failed.":                           "ssh: host key verification failed",
		"No ED25519 host key is known for n4 and ...\nHost key verification failed.\n": "ssh: host key verification failed",
		hidden: "ssh: connection closed",
		reset:  "ssh: connection reset",
		"Connection to 10.0.0.1 port 22: Broken pipe":                                             "ssh: connection: Broken pipe",
		"Connection to 10.1.2.3 closed by remote host.":                                           "ssh: connection closed by remote host",
		"Warning: Permanently added 'n4' (ED25519) to the list of known hosts.":                   "the remote shell ended with status 5",
		"Unauthorized use is prohibited\nmob: gzip is missing\nShared connection to n4 closed.\n": "gzip is missing",
		"\x1b[31mred\x1b[0m\x07": "ssh: [31mred[0m",
		"":                       "the remote shell ended with status 5",
		"first\n" + strings.Repeat("x", 10000) + "\n":                                                                       "ssh: " + strings.Repeat("x", maxLine),
		"Timeout, server 10.1.2.3 not responding.":                                                                          "ssh: timeout, server not responding",
		"Connection timed out during banner exchange\nConnection to 10.1.2.3 port 22 timed out":                             "ssh: connection timed out during banner exchange",
		"Received disconnect from 10.1.2.3 port 22:2: Too many authentication failures\nDisconnected from 10.1.2.3 port 22": "ssh: received disconnect: Too many authentication failures",
		"Unable to negotiate with 10.1.2.3 port 22: no matching host key type found. Their offer: ssh-rsa":                  "ssh: unable to negotiate: no matching host key type found. Their offer: ssh-rsa",

		// Through a jump host.
		reset + "\n" + hidden: "ssh: connection closed",
		"ssh: connect to host gw port 22: Connection refused\n" + hidden:                               "ssh: connection refused",
		"me@10.0.0.1: Permission denied (publickey).\n" + hidden:                                       "ssh: permission denied (publickey)",
		"channel 0: open failed: connect failed: No route to host\nstdio forwarding failed\n" + hidden: "ssh: connect failed: No route to host",

		// Messages of other programs.
		"Error: no such container: n4":                                                       "ssh: error: no such container: %h",
		"mob: gzip is missing\nsrun: error: n4: task 0: Exited with exit code 1":             "gzip is missing",
		"srun: error: n4: task 0: Exited with exit code 1":                                   "the remote shell ended with status 5",
		"panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:5 +0x1d\nexit status 2": "the program has crashed: panic: boom",
	} {
		var tl tail
		_, _ = tl.Write([]byte(text))
		tl.endLine()
		if got := tl.cause("ssh", "n4", 5, nil); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

// TestBusy checks the messages of ssh that cause another login.
func TestBusy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.0.0.1 port 22":                                             true,
		"kex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535":                                        true,
		"Connection timed out during banner exchange\nConnection to 10.0.0.1 port 22 timed out":                                                         true,
		"ssh: connect to host gw port 22: Connection refused\nkex_exchange_identification: Connection closed by remote host":                            false,
		"me@gw: Permission denied (publickey).\nkex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535": false,
		"channel 0: open failed: connect failed: No route to host\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535":                    false,
		"ssh: connect to host n4 port 22: Connection timed out":                                                                                         false,
	} {
		var tl tail
		_, _ = tl.Write([]byte(text))
		tl.endLine()
		if got := isBusy(tl.reason()); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}
