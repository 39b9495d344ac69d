package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// placeOf returns the place of a path for this process, nil if that is not known.
func placeOf(path string) *vfs.Place {
	p, err := vfs.PlaceOf(vfs.OS{}, path)
	if err != nil {
		return nil
	}
	return &p
}

// placeQuery returns the query that sends the place of a path, as the client sees it, to the daemon. It is not a
// field of the request, since daemons of earlier versions reject unknown fields.
func placeQuery(path string) string {
	b, err := json.Marshal(placeOf(path))
	if err != nil {
		return ""
	}
	return "?place=" + url.QueryEscape(string(b))
}

// checkRequested checks the path in a request: it must be absolute, and the same place for the client.
func checkRequested(r *http.Request, path string) error {
	if err := checkAbsolute(path); err != nil {
		return err
	}
	return checkPlace(path, askedPlace(r))
}

// askedPlace returns the place of the path of a request as the client sees it, nil if that is not known.
func askedPlace(r *http.Request) *vfs.Place {
	var p *vfs.Place
	if json.Unmarshal([]byte(r.URL.Query().Get("place")), &p) != nil {
		return nil
	}
	return p
}

// checkPlace fails if this process and another one see different places at a path, as when the daemon has a
// separate /tmp. It succeeds if one of them cannot look, which fails elsewhere. One may have looked before the
// last names of the path were made, or after they were renamed.
func checkPlace(path string, other *vfs.Place) error {
	own := placeOf(path)
	if own == nil || other == nil || slices.Contains(own.IDs, other.Last()) || slices.Contains(other.IDs, own.Last()) {
		return nil
	}
	return fmt.Errorf("%s is a different place for the daemon: it has different mounts, as with PrivateTmp= of systemd or "+
		"in a container: choose a path that the daemon sees too", path)
}
