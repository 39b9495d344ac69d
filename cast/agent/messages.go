package agent

import "strings"

// Message is a message from the caster to an agent. One field is set. A message without any is a keepalive.
type Message struct {
	Start *Start `json:"start,omitempty"`
	// Record is a signed record of a stream: see cast/stream.
	Record []byte `json:"record,omitempty"`
	// Release says that every host has what the records below this number announce.
	Release *uint64 `json:"release,omitempty"`
	// End ends the agent.
	End *End `json:"end,omitempty"`
}

// Start says who the agent is and what it does. It comes first, and once.
type Start struct {
	// Host and Cluster name the host, as the user did.
	Host    string `json:"host"`
	Cluster string `json:"cluster"`
	// Key is the private key of the node, as libp2p marshals it. Network is the id of the cast's
	// network, and Grant the certificate of the node, as PEM.
	Key     []byte `json:"key,omitempty"`
	Network string `json:"network,omitempty"`
	Grant   string `json:"grant,omitempty"`
	// Caster has the addresses of the caster, with its peer id.
	Caster []string `json:"caster,omitempty"`
	// Link is that of the content. It is empty for a stream, whose records are signed with the
	// private half of Stream, as libp2p marshals public keys.
	Link   string `json:"link,omitempty"`
	Stream []byte `json:"stream,omitempty"`
	// Manifest is that of the content, if it is so short that it costs less to send it than to have the
	// agent ask others for it.
	Manifest []byte `json:"manifest,omitempty"`
	// Content is all of a content that is as short: its files, joined in the order of the manifest. Then no
	// node is started, and Key, Network, Grant and Caster are empty.
	Content []byte `json:"content,omitempty"`
	// Dir reports that the content is a directory.
	Dir bool `json:"dir,omitempty"`
	// Dest is the path of the content, relative to the working directory of the agent. With a slash at its
	// end the content goes into it by its own name, and so does a file if Dest is a directory. A directory
	// without the slash is Dest itself, also if that exists: a repeated message means the same place. Without
	// a Dest it is the content's name. Given is the user's text for it, which errors name instead.
	// Force replaces what is there.
	Dest  string `json:"dest,omitempty"`
	Given string `json:"given,omitempty"`
	Force bool   `json:"force,omitempty"`
	// Exec is a command for sh, which gets the content on its standard input, instead of a Dest.
	Exec string `json:"exec,omitempty"`
	// Spool bounds what a stream may keep on the disk, in bytes.
	Spool int64 `json:"spool,omitempty"`
}

// End ends an agent.
type End struct {
	// Error says why the cast was given up. What is not whole is removed.
	Error string `json:"error,omitempty"`
}

// Report is what an agent tells the caster. One field is set.
type Report struct {
	Ready    *Ready    `json:"ready,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Output   *Output   `json:"output,omitempty"`
	Done     *Done     `json:"done,omitempty"`
	Failed   *Failed   `json:"failed,omitempty"`
}

// Ready reports the addresses of the node. An agent sends one, or none if the Start message has the content.
type Ready struct {
	Addrs []string `json:"addrs"` // with its peer id
}

// Progress comes once per second, from the first to the last.
type Progress struct {
	// Bytes is what is verified of the content, or what the consumer of a stream has got.
	Bytes int64 `json:"bytes"`
	// WAN and LAN are the payload that came from other sites and from the own one, in bytes. Rack is
	// the part of LAN that came from the own cluster, where its name has several parts.
	WAN  int64 `json:"wan"`
	LAN  int64 `json:"lan"`
	Rack int64 `json:"rack,omitempty"`
	// Held says that the host has what the records below this number announce.
	Held uint64 `json:"held,omitempty"`
	// Waiting says what a host without progress waits for, in words.
	Waiting string `json:"waiting,omitempty"`
	// Overwriting says that parts of what was at the destination are overwritten, and it is not whole.
	Overwriting bool `json:"overwriting,omitempty"`
}

// Output is a line that the command printed, without its end.
type Output struct {
	Line string `json:"line"`
}

// Done says that the host has the content and that it is on the disk, or that the command has
// ended well.
type Done struct {
	Progress
	// Seconds is the time since the Start message.
	Seconds float64 `json:"seconds"`
}

// Failed says that the host will not have the content.
type Failed struct {
	Progress
	// Error is one line.
	Error string `json:"error"`
	// Exit is the status of the command, 128 plus the number of the signal that killed it. It is 0
	// if there was none, or it had not ended by itself.
	Exit    int     `json:"exit,omitempty"`
	Seconds float64 `json:"seconds"`
}

// maxText bounds the texts of reports, in bytes.
const maxText = 4 << 10

// OneLine returns the text of an error as the one line that messages have.
func OneLine(err error) string { return Line(err.Error()) }

// Line returns a text as the one line that messages have, of 4 KiB at most.
func Line(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	line := strings.Join(lines, "; ")
	if len(line) > maxText {
		line = strings.Clone(strings.ToValidUTF8(line[:maxText], ""))
	}
	return line
}
