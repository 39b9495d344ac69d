package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// placeOf returns the place of a path for this process, nil if that is not known, or a user may not look. The user is nil for the
// process's own.
func placeOf(u *vfs.User, path string) *vfs.Place {
	p, err := vfs.PlaceFor(u, path)
	if err != nil {
		return nil
	}
	return &p
}

// placeQuery returns the query that sends the place of a path, as the client sees it, to the daemon. It is not a
// field of the request, since daemons of earlier versions reject unknown fields.
func placeQuery(path string) string {
	b, err := json.Marshal(placeOf(nil, path))
	if err != nil {
		return ""
	}
	return "?place=" + url.QueryEscape(string(b))
}

// checkRequested checks the path in a request: it must be absolute, and the same place for the client, if that is known.
func checkRequested(r *http.Request, path string) error {
	if !filepath.IsAbs(path) {
		return &Error{CodeRequest, fmt.Sprintf("the path %q is not absolute", path)}
	}
	var asked *vfs.Place
	if json.Unmarshal([]byte(r.URL.Query().Get("place")), &asked) != nil {
		asked = nil
	}
	return checkPlace(path, placeOf(caller(r), path), asked)
}

// checkPlace fails if this process and another one see different places at a path, as when the daemon has a
// separate /tmp. It succeeds if one of them cannot look, which fails elsewhere. One may have looked before the
// last names of the path were made, or after they were renamed.
func checkPlace(path string, own, other *vfs.Place) error {
	if own == nil || other == nil || slices.Contains(own.IDs, other.Last()) || slices.Contains(other.IDs, own.Last()) {
		return nil
	}
	return fmt.Errorf("%s is a different place for the daemon: it has different mounts, as with PrivateTmp= of systemd or "+
		"in a container: choose a path that the daemon sees too", path)
}
