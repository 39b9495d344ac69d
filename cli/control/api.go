package control

import (
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// SocketName is the name of the socket in the data directory.
const SocketName = "mobd.sock"

// Info describes the daemon.
type Info struct {
	ID       string         `json:"id"`
	Cluster  string         `json:"cluster"`
	Host     string         `json:"host"` // in planned transfers
	Addrs    []ma.Multiaddr `json:"addrs"`
	Trackers []ma.Multiaddr `json:"trackers"`
	Data     string         `json:"data"`
	Version  string         `json:"version"`
	PID      int            `json:"pid"`
	UID      int            `json:"uid"` // of its owner
	// Command reports that a command runs the node, and ends it.
	Command bool `json:"command,omitempty"`
	// Network is nil for an open node.
	Network *Network `json:"network,omitempty"`
}

// SeedRequest asks the daemon to hash and serve a file or directory, or what follows the request. Its own fields replace the
// SeedOptions of the same name, which have no JSON.
type SeedRequest struct {
	// Path is absolute.
	Path string `json:"path"`
	// Name is the name of what follows the request.
	Name string `json:"name,omitempty"`
	peer.SeedOptions
	// SkipUnreadable leaves out files and directories that may not be read.
	SkipUnreadable bool   `json:"skip_unreadable,omitempty"`
	Strategy       string `json:"strategy,omitempty"` // its name
	Plan           []byte `json:"plan,omitempty"`     // encoded
}

// Skipped lists files and directories that a seed left out, as they may not be read.
type Skipped struct {
	// Paths lists the first hundred of them, in the content, and More counts the remaining ones.
	Paths []string `json:"paths,omitempty"`
	More  int      `json:"more,omitempty"`
}

// add adds a path.
func (s *Skipped) add(path string) {
	if len(s.Paths) == 100 {
		s.More++
		return
	}
	s.Paths = append(s.Paths, path)
}

// GetRequest asks the daemon to fetch the content of a link.
type GetRequest struct {
	Link string `json:"link"`
	// Path is absolute.
	Path string `json:"path"`
	// Flush waits until the content is on the disk.
	Flush bool `json:"flush,omitempty"`
	// Keep serves content that was written to standard output until the node ends.
	Keep bool `json:"keep,omitempty"`
	peer.GetOptions
}

// NameRequest names a transfer by its content id, link or path.
type NameRequest struct {
	Name string `json:"name"`
	// Content, in a remove, deletes the fetched files too.
	Content bool `json:"content,omitempty"`
	// Repair, in a verify, fetches damaged pieces again, and waits until the content is complete.
	Repair bool `json:"repair,omitempty"`
}

// Removal is the result of a remove.
type Removal struct {
	peer.Status // the last one
	// Left lists the entries at the path of the content that were not deleted.
	Left []store.Left `json:"left,omitempty"`
}

// LinkRequest names the content of a link, which the daemon need not have.
type LinkRequest struct {
	Link string `json:"link"`
}

// Event is a line of a stream. Which fields are set depends on the call.
type Event struct {
	// Hashed of Total bytes are done, in a seed or a verify.
	Hashed int64 `json:"hashed,omitempty"`
	Total  int64 `json:"total,omitempty"`
	// Waiting describes what a describe waits for.
	Waiting string       `json:"waiting,omitempty"`
	Status  *peer.Status `json:"status,omitempty"`
	// Manifest is the encoded manifest that a describe found.
	Manifest []byte `json:"manifest,omitempty"`
	// Torrent is the info dictionary of an export, or of a describe whose link names
	// no manifest.
	Torrent []byte `json:"torrent,omitempty"`
	// Verification is the result of a verify. Statuses follow while it repairs.
	Verification *peer.Verification `json:"verification,omitempty"`
	// Skipped is set at the end of a seed.
	Skipped Skipped `json:"skipped,omitzero"`
	// Place is the place of the path of a get as the daemon sees it at the end.
	Place *vfs.Place `json:"place,omitempty"`
	// Version is the result of a post to a feed.
	Version *feed.Version `json:"version,omitempty"`
	// Done marks the last event of a successful call, Error the last event of a
	// failed one.
	Done  bool   `json:"done,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// status returns the status of an event, empty if it has none.
func (ev *Event) status() (st peer.Status) {
	if ev.Status != nil {
		st = *ev.Status
	}
	return st
}
