package membership

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mobgrid/mob/peer/datadir"
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

// ReadSecret reads the file of a secret. It fails if other users can read it too, see [datadir.OthersMayRead].
func ReadSecret(path string) (*Secret, error) {
	text, info, err := readFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the network's secret: %w", err)
	}
	b, err := blocks(text, secretBlock)
	if err != nil {
		return nil, fmt.Errorf("%s is not the secret of a network: %w", path, err)
	}
	if datadir.OthersMayRead(info) {
		return nil, fmt.Errorf("the network's secret %s can be read by other users (mode %04o): `chmod 600 %s`, "+
			"or make a new network if one of them may have read it", path, info.Mode().Perm(), path)
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
	return read(path, maxFile, "certificate", ParseGrant)
}

// read reads and parses a file that holds a what.
func read[T any](path string, limit int64, what string, parse func([]byte) (T, error)) (v T, err error) {
	text, _, err := readFile(path, limit)
	if err != nil {
		return v, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	if v, err = parse(text); err != nil {
		return v, fmt.Errorf("%s is not a %s: %w", path, what, err)
	}
	return v, nil
}

// ParseLists parses the text of one or more lists. It fails if one of them is cut off: that list would be missing.
func ParseLists(text []byte) (Lists, error) {
	var all Lists
	for range max(1, bytes.Count(text, []byte("-----BEGIN "))) {
		_, rest := pem.Decode(text)
		b, err := blocks(text, listBlock)
		if err != nil {
			return nil, err
		}
		l, err := openList(b[0])
		if err != nil {
			return nil, err
		}
		if all, _, err = all.add(l); err != nil {
			return nil, err
		}
		text = rest
	}
	return all, nil
}

// ReadLists reads the file of one or more lists.
func ReadLists(path string) (Lists, error) {
	return read(path, maxListsFile, "list of revoked members", ParseLists)
}

func readFile(path string, limit int64) ([]byte, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() && info.Mode()&os.ModeNamedPipe == 0 {
		return nil, nil, errors.New(path + " is not a file")
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New(path + " is too large")
	}
	return b, info, err
}
