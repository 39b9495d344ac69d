package control

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// TestGuard makes calls as the owner, root, another user and an unknown one.
func TestGuard(t *testing.T) {
	mux := http.NewServeMux()
	var got *vfs.User
	answer := func(_ http.ResponseWriter, r *http.Request) { got = caller(r) }
	for _, pattern := range append(forUsers, "GET /debug/pprof/", "POST /v1/later", "POST /v1/pipe", "POST /v1/content") {
		mux.HandleFunc(pattern, answer)
	}
	owner, other := &vfs.User{UID: uint32(os.Geteuid())}, &vfs.User{UID: 60002}
	for _, c := range []struct {
		user         *vfs.User
		method, path string
		status       int
	}{
		{owner, "GET", "/debug/pprof/heap", 200},
		{&vfs.User{}, "POST", "/v1/later", 200},
		{other, "GET", "/v1/transfers", 200},
		{other, "POST", "/v1/get", 200},
		{other, "GET", "/debug/pprof/heap", 403},
		{other, "POST", "/v1/later", 403},
		{other, "POST", "/v1/pipe", 403},
		{other, "POST", "/v1/content", 403},
		{other, "GET", "/v1/nothing", 404},
		{nil, "GET", "/v1/transfers", 403},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		if c.user != nil {
			r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c.user))
		}
		w := httptest.NewRecorder()
		got = nil
		guard(mux).ServeHTTP(w, r)
		if w.Code != c.status || w.Code == 200 && (got == other) != (c.user == other) {
			t.Errorf("%+v %s: %d, as %+v", c.user, c.path, w.Code, got)
		}
	}
}
