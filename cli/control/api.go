package control

import (
	"errors"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// SocketName is the name of the socket in the data folder.
const SocketName = "mobd.sock"

// Info says who the daemon is.
type Info struct {
	ID       string   `json:"id"`
	Cluster  string   `json:"cluster"`
	Addrs    []string `json:"addrs"`
	Trackers []string `json:"trackers"`
	Data     string   `json:"data"`
	Version  string   `json:"version"`
	PID      int      `json:"pid"`
}

// SeedRequest asks for a content to be hashed and served.
type SeedRequest struct {
	// Path is absolute.
	Path string `json:"path"`
	// PieceLength is in bytes, 0 for the default.
	PieceLength uint32 `json:"piece_length,omitempty"`
	// Trackers go into the link, beside the daemon's own.
	Trackers []string `json:"trackers,omitempty"`
	// Coded is how many source blocks a generation of a coded transfer has, -1 for a
	// number that suits the machine, and 0 for plain pieces.
	Coded int `json:"coded,omitempty"`
	// Strategy is the kind of permutation gossip by which blocks go round, by its name;
	// empty for none.
	Strategy string `json:"strategy,omitempty"`
	// Torrent offers the content to BitTorrent clients too. BTTrackers are theirs, and
	// go into the link, beside the daemon's own.
	Torrent    bool     `json:"torrent,omitempty"`
	BTTrackers []string `json:"bt_trackers,omitempty"`
}

// GetRequest asks for a content to be fetched.
type GetRequest struct {
	Link string `json:"link"`
	// Path is absolute.
	Path string `json:"path"`
	// Reuse takes over what is at Path.
	Reuse bool `json:"reuse,omitempty"`
	// Torrent is the info dictionary of the link's info-hash, when it is known.
	Torrent []byte `json:"torrent,omitempty"`
}

// NameRequest names a transfer.
type NameRequest struct {
	Name string `json:"name"`
	// Content, in a remove, deletes what was fetched too.
	Content bool `json:"content,omitempty"`
}

// LinkRequest names a content.
type LinkRequest struct {
	Link string `json:"link"`
}

// ExportRequest asks for a content's info dictionary.
type ExportRequest struct {
	// Name is that of a transfer: its content id, link or path.
	Name string `json:"name"`
}

// Event is a line of a stream. Which fields are set depends on the call.
type Event struct {
	// Hashed of Total bytes are looked at, in a seed or an export.
	Hashed int64 `json:"hashed,omitempty"`
	Total  int64 `json:"total,omitempty"`
	// Waiting says in words what is waited for, in a description.
	Waiting string       `json:"waiting,omitempty"`
	Status  *peer.Status `json:"status,omitempty"`
	// Manifest is that of a link, in a description.
	Manifest []byte `json:"manifest,omitempty"`
	// Torrent is an info dictionary, of an export, or of a link that names no manifest.
	Torrent []byte `json:"torrent,omitempty"`
	// Done marks the last event of a call that succeeded, Error that of one that
	// failed.
	Done  bool   `json:"done,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// Fleet tells how far the nodes of a swarm are.
type Fleet struct {
	Clusters []FleetCluster `json:"clusters"`
}

// FleetCluster is the progress of one cluster. Missing counts the pieces that
// its nodes still lack, added up.
type FleetCluster struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	Whole   int    `json:"whole"`
	Missing uint64 `json:"missing"`
}

// Whole counts the nodes that have every piece.
func (f *Fleet) Whole() (n int) {
	for _, c := range f.Clusters {
		n += c.Whole
	}
	return n
}

// Nodes counts all nodes.
func (f *Fleet) Nodes() (n int) {
	for _, c := range f.Clusters {
		n += c.Nodes
	}
	return n
}

func newFleet(f *proto.Fleet) *Fleet {
	out := &Fleet{Clusters: []FleetCluster{}}
	for _, c := range f.Clusters {
		out.Clusters = append(out.Clusters, FleetCluster{c.Name, int(c.Nodes), int(c.Whole), c.Missing})
	}
	return out
}

// Code is the kind of an Error, for programs.
type Code string

// The codes.
const (
	CodeFailed  Code = "failed"
	CodeRequest Code = "bad_request"
	CodeUnknown Code = "unknown_transfer"
	CodeStopped Code = "stopped"
	CodeExists  Code = "exists" // something is at the destination
)

// Error is a failure that the daemon tells of.
type Error struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Is makes errors that came through the socket match those of package peer.
func (e *Error) Is(target error) bool {
	return e.Code == CodeUnknown && target == peer.ErrUnknownTransfer ||
		e.Code == CodeStopped && target == peer.ErrStopped
}

// newError is err as it goes through the socket.
func newError(err error) *Error {
	var e *Error
	var exists *store.ExistsError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, peer.ErrUnknownTransfer):
		return &Error{CodeUnknown, err.Error()}
	case errors.As(err, &exists):
		return &Error{CodeExists, err.Error()}
	case errors.Is(err, peer.ErrStopped):
		return &Error{CodeStopped, err.Error()}
	}
	return &Error{CodeFailed, err.Error()}
}
