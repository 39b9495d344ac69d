package command

import (
	"io"
	"testing"
)

// TestReadArgOpenInput reads a link from a pipe that stays open, as of a seed that serves.
func TestReadArgOpenInput(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "\r\n magnet:?xt=x \n") //nolint:errcheck // the reader may be gone
	env := &Env{In: r}
	if got, err := env.ReadArg("-"); got != "magnet:?xt=x" || err != nil {
		t.Errorf("ReadArg = %q, %v", got, err)
	}
}

// TestParseContentLinkForms parses links whose scheme is in capitals, or after a space.
func TestParseContentLinkForms(t *testing.T) {
	const query = "?xt=urn:mob:bafyreide4klehe5jqyl3lttecsx2af52diz73bacwpat62sugj24l6an6u"
	for _, text := range []string{"magnet:" + query, "MAGNET:" + query, " Magnet:" + query + "\n"} {
		if c, err := new(Env).ParseContent(text); c.Link == nil || err != nil {
			t.Errorf("ParseContent(%q) = %v, %v", text, c, err)
		}
	}
}
