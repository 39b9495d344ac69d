package membership

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
)

// The types of PEM blocks in files.
const (
	secretBlock      = "MOB NETWORK SECRET"
	passBlock        = "MOB PASS"
	certificateBlock = "MOB CERTIFICATE"
	listBlock        = "MOB REVOKED MEMBERS"
)

// maxFile bounds the files, in bytes, maxListsFile those with lists.
const (
	maxFile      = 1 << 20
	maxListsFile = maxLists * maxFile
)

// PEM returns the secret in PEM.
func (s *Secret) PEM() []byte { return pemBlock(secretBlock, s.seed) }

// PEM returns the grant in PEM.
func (g *Grant) PEM() []byte {
	return append(pemBlock(passBlock, g.Pass.envelope), pemBlock(certificateBlock, g.Certificate.envelope)...)
}

// PEM returns the list in PEM.
func (l *List) PEM() []byte { return pemBlock(listBlock, l.envelope) }

func pemBlock(kind string, b []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})
}

// blocks returns the PEM blocks of a text, which must have these types.
func blocks(text []byte, kinds ...string) ([][]byte, error) {
	var out [][]byte
	for _, kind := range kinds {
		block, rest := pem.Decode(text)
		if block == nil || block.Type != kind {
			return nil, fmt.Errorf("no %q", "BEGIN "+kind)
		}
		out, text = append(out, block.Bytes), rest
	}
	return out, nil
}

// ReadSecret reads the file of a secret. It fails if other users can read it too.
func ReadSecret(path string) (*Secret, error) {
	text, mode, err := readFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the network's secret: %w", err)
	}
	b, err := blocks(text, secretBlock)
	if err != nil {
		return nil, fmt.Errorf("%s is not the secret of a network: %w", path, err)
	}
	if mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the network's secret %s can be read by other users (mode %04o): `chmod 600 %s`, "+
			"or make a new network if one of them may have read it", path, mode.Perm(), path)
	}
	s, err := secretOf(b[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ParseGrant parses the text of a grant.
func ParseGrant(text []byte) (*Grant, error) {
	b, err := blocks(text, passBlock, certificateBlock)
	if err != nil {
		return nil, err
	}
	return openGrant(b[0], b[1])
}

// ReadGrant reads the file of a grant.
func ReadGrant(path string) (*Grant, error) {
	text, _, err := readFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate: %w", err)
	}
	g, err := ParseGrant(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a certificate: %w", path, err)
	}
	return g, nil
}

func parseList(text []byte) (*List, error) {
	b, err := blocks(text, listBlock)
	if err != nil {
		return nil, err
	}
	return openList(b[0])
}

// ParseLists parses the text of one or more lists.
func ParseLists(text []byte) (Lists, error) {
	var all Lists
	for {
		block, rest := pem.Decode(text)
		if block == nil && len(all) > 0 {
			return all, nil
		}
		l, err := parseList(text)
		if err != nil {
			return nil, err
		}
		if all, _, err = all.add(l); err != nil {
			return nil, err
		}
		text = rest
	}
}

// ReadLists reads the file of one or more lists.
func ReadLists(path string) (Lists, error) {
	text, _, err := readFile(path, maxListsFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of revoked members: %w", err)
	}
	ls, err := ParseLists(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a list of revoked members: %w", path, err)
	}
	return ls, nil
}

func readFile(path string, limit int64) ([]byte, os.FileMode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() && info.Mode()&os.ModeNamedPipe == 0 {
		return nil, 0, errors.New(path + " is not a file")
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New(path + " is too large")
	}
	return b, info.Mode(), err
}
