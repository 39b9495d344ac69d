package agent

import (
	"strings"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cast/launch"
)

// Message is a message from the caster to an agent. One field is set. A message without any is a keepalive.
type Message struct {
	Start *Start `json:"start,omitempty"`
	// Record is a signed record of a stream, and Number its number: see cast/stream.
	Record []byte `json:"record,omitempty"`
	Number uint64 `json:"number,omitempty"`
	// Release reports that every host has the records below this number.
	Release *uint64 `json:"release,omitempty"`
	// Relay is about a command that the agent runs on another host.
	Relay *launch.Frame `json:"relay,omitempty"`
	// End ends the agent.
	End *End `json:"end,omitempty"`
}

// Start configures the agent. It is sent first, and once in each login.
type Start struct {
	// Host and Cluster are the names given by the user.
	Host    string `json:"host"`
	Cluster string `json:"cluster"`
	// Key is the private key of the node, as marshaled by libp2p. Network is the id of the network of the cast, and Grant the
	// certificate of the node as PEM.
	Key     []byte `json:"key,omitempty"`
	Network string `json:"network,omitempty"`
	Grant   string `json:"grant,omitempty"`
	// Caster is the node of the caster.
	Caster libpeer.AddrInfo `json:"caster,omitzero"`
	// Link is the link of the content, empty for a stream. Stream is the public key that verifies the records of a stream, as
	// marshaled by libp2p.
	Link   string `json:"link,omitempty"`
	Stream []byte `json:"stream,omitempty"`
	// Manifest is the manifest, if it is so short that sending it costs less than a request to peers.
	Manifest []byte `json:"manifest,omitempty"`
	// Content contains all files of a short content, joined in the order of the manifest. Then no node is started, and Key,
	// Network, Grant and Caster are empty. The agent serves it to its neighbors, encrypted with the key Seal. They are sent Neighbor,
	// its URLs, instead of Manifest and Content.
	Content  []byte   `json:"content,omitempty"`
	Seal     []byte   `json:"seal,omitempty"`
	Neighbor []string `json:"neighbor,omitempty"`
	// Dir reports that the content is a directory.
	Dir bool `json:"dir,omitempty"`
	// Dest is the path of the content, relative to the working directory of the agent, by default the name of the content. With a
	// slash at its end the content is put into it, and so is a file if Dest is a directory. A directory without the slash is Dest
	// itself, even if that exists. Given is the user's text for it, which errors contain. Force replaces existing files.
	Dest  string `json:"dest,omitempty"`
	Given string `json:"given,omitempty"`
	Force bool   `json:"force,omitempty"`
	// Exec is a command for sh that gets the content on its standard input, instead of Dest.
	Exec string `json:"exec,omitempty"`
	// Serve is the path of a file or directory that the agent seeds for the caster, in a gather: then Link, Stream, Dest and Exec are
	// empty. Name is the name in its manifest, and FollowLinks follows symbolic links that lead out of it.
	Serve       string `json:"serve,omitempty"`
	Name        string `json:"name,omitempty"`
	FollowLinks bool   `json:"follow_links,omitempty"`
	// Spool bounds the spool of a stream, in bytes.
	Spool int64 `json:"spool,omitempty"`
}

// End ends an agent.
type End struct {
	// Error is the reason why the cast was given up. Incomplete transfers are removed.
	Error string `json:"error,omitempty"`
}

// Report is a message from an agent to the caster. One field is set.
type Report struct {
	// Ready is the node, sent once, or never if the Start message contains the content.
	Ready    *libpeer.AddrInfo `json:"ready,omitempty"`
	Progress *Progress         `json:"progress,omitempty"`
	// Output is a line that the command printed, without its end.
	Output *string `json:"output,omitempty"`
	// Done reports that the content is on the disk of the host, or that the command has exited with status 0.
	Done   *Progress `json:"done,omitempty"`
	Failed *Failed   `json:"failed,omitempty"`
	// Served is sent instead of Done in a gather, when the content is hashed.
	Served *Served `json:"served,omitempty"`
	// Missing requests another Start message with the content, since the neighbor does not send it.
	Missing bool `json:"missing,omitempty"`
	// Relay is about a command that the agent runs on another host.
	Relay *launch.Frame `json:"relay,omitempty"`
}

// Served is the content that an agent serves.
type Served struct {
	// Content is the id of the manifest, and Length the size in bytes.
	Content string `json:"content"`
	Length  int64  `json:"length"`
	// Manifest is the manifest, if it is short.
	Manifest []byte `json:"manifest,omitempty"`
}

// MaxManifest bounds a manifest in a message, in bytes, and a short content with its manifest. The handshakes for a request cost about
// as many.
const MaxManifest = 16 << 10

// Progress is sent once per second.
type Progress struct {
	// Bytes is the number of verified bytes of the content, of bytes written to the consumer of a stream, or of hashed bytes in a
	// gather.
	Bytes int64 `json:"bytes"`
	// WAN and LAN are the payload received from other sites and from the own site, in bytes. Rack is the part of LAN from the own
	// cluster, if its name has several parts.
	WAN  int64 `json:"wan"`
	LAN  int64 `json:"lan"`
	Rack int64 `json:"rack,omitempty"`
	// Held reports that the host has the records below this number.
	Held uint64 `json:"held,omitempty"`
	// Waiting is the reason why a host makes no progress.
	Waiting string `json:"waiting,omitempty"`
	// Overwriting reports that existing files are partly overwritten.
	Overwriting bool `json:"overwriting,omitempty"`
}

// Failed reports that the host will not have the content.
type Failed struct {
	Progress
	// Error is one line.
	Error string `json:"error"`
	// Exit is the exit status of the command, 128 plus the number of a signal, or 0 if it did not exit by itself.
	Exit int `json:"exit,omitempty"`
}

// maxText bounds the texts of reports, in bytes.
const maxText = 4 << 10

// OneLine returns the text of an error in one line.
func OneLine(err error) string { return Line(err.Error()) }

// Line returns a text in one line of at most 4 KiB.
func Line(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	line := strings.Join(lines, "; ")
	if len(line) > maxText {
		line = strings.Clone(strings.ToValidUTF8(line[:maxText], ""))
	}
	return line
}
