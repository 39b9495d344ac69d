package peer_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// thing is a file with its bytes, a link with its target, or a directory.
type thing struct {
	mode fs.FileMode
	text string
}

// see returns what is at a path, the zero thing if nothing is.
func see(path string) (th thing) {
	info, err := os.Lstat(path)
	if err != nil {
		return th
	}
	th.mode = info.Mode()
	switch th.mode.Type() {
	case 0:
		b, _ := os.ReadFile(path)
		th.text = string(b)
	case fs.ModeSymlink:
		th.text, _ = os.Readlink(path)
	case fs.ModeDir:
		th.mode &= fs.ModeDir | fs.ModePerm
	}
	return th
}

func (th thing) String() string {
	if len(th.text) > 20 {
		return fmt.Sprintf("%v, %d bytes %x...", th.mode, len(th.text), sha256.Sum256([]byte(th.text)))
	}
	return fmt.Sprintf("%v %q", th.mode, th.text)
}

// namesEntry reports whether an error names an entry of the content, or an action.
func (m *model) namesEntry(err error) bool {
	text := err.Error()
	if strings.Contains(text, m.dir) || errors.Is(err, peer.ErrStopped) || errors.Is(err, errWaits) {
		return true
	}
	if strings.Contains(text, m.data) || strings.Contains(text, filepath.Base(m.source)+" (") {
		return true // the state of a transfer, or the content's name in a list of differences
	}
	return slices.ContainsFunc(m.names, func(name string) bool { return name != "" && strings.Contains(text, name) })
}

// expected returns the entry of the content at a path, the zero thing if there is none.
func (m *model) expected(path string) thing {
	for _, root := range []string{m.out, m.out + "2", m.out + "-away"} {
		if rel, err := filepath.Rel(root, path); err == nil {
			if th, ok := m.content[strings.TrimPrefix(rel, ".")]; ok {
				return th
			}
		}
	}
	return thing{}
}

// check checks that nothing of the user's was touched, and that what is reported as complete is.
func (m *model) check(what string) {
	m.Helper()
	for path, o := range m.mine {
		is, want := see(path), m.expected(path)
		switch {
		case is == o.thing:
		case o.mode.IsDir() && want.mode.IsDir() && is == thing{}: // removed as one of the content, which was empty
			delete(m.mine, path)
		case o.changed && o.repairable && o.right && is == thing{}: // repaired, and then removed by --content
			delete(m.mine, path)
		case o.changed && o.repairable && is != thing{} && is.mode.IsRegular() && mixed(is.text, o.text, want.text):
		case o.reused && is.mode.Type() == want.mode.Type() && (is.text == want.text || is.mode.IsRegular() && mixed(is.text, o.text, want.text)):
		default:
			m.Errorf("after %q, %s is %v; the user left %v", what, path, is, o.thing)
		}
		o.right = is.text == want.text
	}
	for _, t := range m.node.Transfers() {
		state, ok := peer.LookNow(t)
		if st := t.Status(); ok && state.Intact() && st.Phase == peer.Whole && st.PiecesHave == st.Pieces && t.Manifest() != nil {
			if d := m.differs(t); d != "" {
				m.Errorf("after %q, status reports %s as complete: %s", what, st.Root, d)
			}
		}
	}
	if m.Failed() {
		m.FailNow()
	}
}

// mixed reports whether each byte of a file is the user's or the content's, or was not written yet.
func mixed(is, user, want string) bool {
	for i := range len(is) {
		if !(i < len(user) && is[i] == user[i] || i < len(want) && is[i] == want[i] || i >= len(user) && is[i] == 0) {
			return false
		}
	}
	return true
}

// differs returns how the files of a transfer differ from its manifest.
func (m *model) differs(t *peer.Transfer) string {
	mf, st := t.Manifest(), t.Status()
	if st.Seed && m.linked {
		return "" // it may follow the earlier link
	}
	root := st.Root
	if link, err := os.Readlink(root); st.Seed && err == nil {
		root = link
	}
	var stream bytes.Buffer
	for _, e := range mf.Entries {
		is := see(filepath.Join(root, e.Path))
		switch e.Kind {
		case proto.Dir:
			if !is.mode.IsDir() {
				return e.Path + " is not a directory"
			}
		case proto.Symlink:
			if is.mode.Type() != fs.ModeSymlink || is.text != e.Target {
				return e.Path + " is not the link"
			}
		default:
			if is == (thing{}) || !is.mode.IsRegular() || int64(len(is.text)) != e.Size {
				return fmt.Sprintf("%s is %v, want %d bytes", e.Path, is, e.Size)
			}
			stream.WriteString(is.text)
		}
	}
	for piece := range mf.Pieces() {
		if sum := sha256.Sum256(stream.Next(mf.PieceSize(piece))); !bytes.Equal(sum[:], mf.Hashes[piece*sha256.Size:][:sha256.Size]) {
			return fmt.Sprintf("piece %d has other bytes", piece)
		}
	}
	return ""
}
