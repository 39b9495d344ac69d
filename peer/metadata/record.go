package metadata

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// A Record is the state of a transfer for a restarted node, in addition to the journal of
// pieces and the [Description].
type Record struct {
	// Seed is set if the user provided the content at Root. Otherwise it is fetched.
	Seed    bool        `json:"seed"`
	Root    string      `json:"root"`    // path of the content
	Link    *proto.Link `json:"link"`    // immutable
	Stopped bool        `json:"stopped"` // the node does not resume it when it starts
	Whole   bool        `json:"whole"`
	Begun   bool        `json:"begun"` // Root was created
	Have    int         `json:"have"`  // verified pieces when the transfer last ended
	Bytes   int64       `json:"bytes"` // in those pieces
	Added   time.Time   `json:"added"`
	// Completed is the time at which the content was seeded or first complete, and Number the
	// number of the completion at this node.
	Completed time.Time `json:"completed,omitzero"`
	Number    int64     `json:"number,omitempty"`
	// SpecialBits is set if fetched files keep setuid and setgid.
	SpecialBits bool `json:"special_bits,omitempty"`
	// Selected is empty if all of the content is fetched. LeftOut counts what is not, once the manifest is known.
	Selected Selections `json:"selected,omitempty"`
	LeftOut  LeftOut    `json:"left_out,omitzero"`
	// InOrder is set if pieces are fetched from the front.
	InOrder bool `json:"in_order,omitempty"`
	// Priority is empty if none was given.
	Priority limit.Priority `json:"priority,omitempty"`
	// Permanent is set if only [peer.Node.Remove] ends the transfer.
	Permanent bool `json:"permanent,omitempty"`
	// FollowLinks is set for a seed that includes the targets of symbolic links.
	FollowLinks bool `json:"follow_links,omitempty"`
	// Announce are announce URLs that users of this node named when they seeded the content. Link.Announce may
	// come from another node's link.
	Announce []string `json:"announce,omitempty"`
	// User started the transfer, which uses only files that the user may use. Nil means the
	// owner of the node.
	User *vfs.User `json:"user,omitempty"`
}

const recordFile = "transfer.json"

// Save replaces the record in the state directory of a transfer.
func (r Record) Save(dir string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(dir, recordFile), append(b, '\n'), 0o600)
}

// LoadRecord reads the record in the state directory of a transfer.
func LoadRecord(dir string) (Record, error) {
	var r Record
	b, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && r.Link == nil {
		err = errors.New("the record has no link")
	}
	return r, err
}
