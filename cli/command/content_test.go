package command

import (
	"context"
	"io"
	"testing"
)

// TestReadArgOpenInput reads a link from a pipe that stays open, as of a seed that serves.
func TestReadArgOpenInput(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "\r\n magnet:?xt=x \n") //nolint:errcheck // the reader may be gone
	env := &Env{In: r}
	if got, err := env.ReadArg(t.Context(), "-"); got != "magnet:?xt=x" || err != nil {
		t.Errorf("ReadArg = %q, %v", got, err)
	}
}

// TestReadArgInterrupted interrupts a command that waits for standard input, for an argument or in the check of a flag.
func TestReadArgInterrupted(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&Env{In: r}).ReadArg(ctx, "-")
	for _, err := range []error{err, Usagef("--hosts: %w", err)} {
		if status, text := Outcome("mob get", err, true); status != ExitInterrupted || text != "interrupted" {
			t.Errorf("exit status %d, %q", status, text)
		}
	}
}

// TestParseContentLinkForms parses links whose scheme is in capitals, or after a space.
func TestParseContentLinkForms(t *testing.T) {
	const query = "?xt=urn:mob:bafyreide4klehe5jqyl3lttecsx2af52diz73bacwpat62sugj24l6an6u"
	for _, text := range []string{"magnet:" + query, "MAGNET:" + query, " Magnet:" + query + "\n"} {
		if c, err := new(Env).ParseContent(t.Context(), text); c.Link == nil || err != nil {
			t.Errorf("ParseContent(%q) = %v, %v", text, c, err)
		}
	}
}
