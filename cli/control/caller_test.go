package control

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
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

// TestBodiesOfUser checks that a user's incomplete requests take a bounded part of the memory, and that requests of other users are read.
func TestBodiesOfUser(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/stop", request(func(*http.Request, NameRequest) (any, error) { return struct{}{}, nil }).serve)
	g := guard(mux)
	post := func(uid uint32, body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/stop", body)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, &vfs.User{UID: uid})))
		return w
	}
	long := func(size int) io.Reader { return strings.NewReader(`{"name":"` + strings.Repeat("x", size) + `"}`) }
	reader, writer := io.Pipe()
	first := make(chan int)
	go func() { first <- post(60002, reader).Code }()
	if _, err := io.CopyN(writer, long(36<<20), 36<<20); err != nil { // returns once it is read
		t.Fatal(err)
	}
	if w := post(60002, long(36<<20)); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), errBodies.Error()) {
		t.Errorf("a second long request: %d, %.100s", w.Code, w.Body)
	}
	if w := post(60003, long(20<<20)); w.Code != http.StatusOK {
		t.Errorf("another user: %d, %.100s", w.Code, w.Body)
	}
	writer.Close()
	if status := <-first; status != http.StatusBadRequest {
		t.Errorf("an incomplete request: %d", status)
	}
	if w := post(60002, long(36<<20)); w.Code != http.StatusOK {
		t.Errorf("a long request after that: %d, %.100s", w.Code, w.Body)
	}
}
