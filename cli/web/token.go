package web

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mobgrid/mob/peer/datadir"
)

// tokenFile is the name of the token's file in the data directory.
const tokenFile = "http-token"

// minToken is the length of the shortest token, in bytes.
const minToken = 16

// token is the secret that authorizes requests that change state.
type token struct {
	file string
	text string
}

// loadToken reads the token of a file, by default of the data directory, where it makes one if there is none.
func loadToken(file, data string) (token, error) {
	var b []byte
	var err error
	if file != "" {
		b, err = datadir.ReadSecret(file)
	} else {
		file = filepath.Join(data, tokenFile)
		b, err = datadir.LoadSecret(file, func() ([]byte, error) { return []byte(rand.Text() + "\n"), nil })
	}
	if err != nil {
		return token{}, fmt.Errorf("cannot read the token of --http: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if len(text) < minToken || strings.ContainsFunc(text, strange) {
		return token{}, fmt.Errorf("%s does not have a token: it must be one word of at least %d letters and digits", file, minToken)
	}
	return token{file, text}, nil
}

// is reports whether text is the token, in a time that depends on its length only.
func (t *token) is(text string) bool {
	return t.text != "" && subtle.ConstantTimeCompare([]byte(text), []byte(t.text)) == 1
}

// strange reports whether a cookie cannot have r.
func strange(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`",;\`, r) }
