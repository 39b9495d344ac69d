package metadata

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/mobgrid/mob/peer/datadir"
)

// Record is of one transfer.
type Record struct {
	// Seed says that the content lies where the user put it; otherwise it is,
	// or was, fetched.
	Seed    bool      `json:"seed"`
	Root    string    `json:"root"`
	Link    string    `json:"link"`
	Stopped bool      `json:"stopped"` // not to be taken up at start
	Whole   bool      `json:"whole"`
	Begun   bool      `json:"begun"` // the destination was made
	Have    int       `json:"have"`  // pieces, when it last ended
	Bytes   int64     `json:"bytes"` // in those pieces
	Added   time.Time `json:"added"`
}

const recordFile = "transfer.json"

// Save replaces the record in a transfer's folder.
func (r Record) Save(dir string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(dir, recordFile), append(b, '\n'), 0o600)
}

// LoadRecord reads the record in a folder.
func LoadRecord(dir string) (Record, error) {
	var r Record
	b, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}
