package peer_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// owned is something of the user's.
type owned struct {
	thing
	changed    bool // the node made it, and the user changed it in place: it may be repaired
	repairable bool // a call that may repair it was made since
	reused     bool // it existed before a get with Reuse
	right      bool // it has the bytes of the content
}

// user does something to the files, and returns what.
func (m *model) user() string {
	name := m.names[m.rng.IntN(len(m.names))]
	if m.rng.IntN(5) == 0 {
		name = filepath.Join(filepath.Dir(name), "extra")
	}
	how := m.rng.IntN(13)
	if m.busy() {
		how = keepBytes[m.rng.IntN(len(keepBytes))]
	}
	return m.change(filepath.Join(m.out, name), how)
}

// keepBytes lists the changes that leave the bytes of files. Bytes that were verified and change before a transfer is
// complete show when they are served.
var keepBytes = []int{0, 1, 5, 6, 7, 8, 9, 10, 11}

// change changes what is at a path in one of several ways.
func (m *model) change(path string, how int) (what string) {
	defer func() { m.note("user: %s", what) }()
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && dir != filepath.Dir(path) {
		return "nothing"
	}
	was := see(path)
	regular := was.mode.IsRegular() && was != thing{}
	switch {
	case how == 0 && path != m.out, how == 1:
		m.away()
		return "moves the destination away or back"
	case (how == 2 || how == 3) && regular && was.text != "":
		m.inPlace(path, func() {
			b := []byte(was.text)
			b[m.rng.IntN(len(b))] ^= 1
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			check(m, err)
			_, err = f.Write(b)
			check(m, err, f.Close())
		})
		return "edits " + path
	case how == 4 && regular:
		m.inPlace(path, func() { check(m, os.Truncate(path, m.rng.Int64N(int64(len(was.text)+100)))) })
		return "truncates " + path
	case how == 5 && regular:
		m.inPlace(path, func() { check(m, os.Chmod(path, []fs.FileMode{0o400, 0o600, 0o644, 0o755, 0o444}[m.rng.IntN(5)])) })
		return "changes the mode of " + path
	case how == 12 && regular: // as a backup does; while the node is busy, it may have the file open
		m.number++
		to := filepath.Join(m.dir, fmt.Sprint("backup", m.number))
		check(m, os.Link(path, to))
		m.own(to, false)
		return "links " + path
	case how == 6 && was != thing{}:
		m.number++
		to := filepath.Join(m.dir, fmt.Sprint("moved", m.number))
		m.ignore(path)
		check(m, os.Rename(path, to))
		if !m.busy() { // else the node may have it open
			m.own(to, false)
		}
		return "moves " + path
	}
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil { // something is in the way
		return "nothing"
	}
	m.ignore(path)
	switch how {
	case 7:
		check(m, os.Symlink(filepath.Join(m.dir, "secret"), path+".temp"))
		m.replace(path)
		what = "makes a link of "
	case 8:
		check(m, os.Symlink(filepath.Join(m.dir, "elsewhere"), path+".temp"))
		m.replace(path)
		what = "makes a link to a directory of "
	case 9:
		put(m, filepath.Join(path+".temp", "c"), "mine")
		check(m, os.Chmod(path+".temp", []fs.FileMode{0o700, 0o711}[m.rng.IntN(2)]))
		m.replace(path)
		what = "makes a directory of "
	case 10, 0, 2:
		text := fmt.Sprint("mine ", m.number)
		if rel, _ := filepath.Rel(m.out, path); m.rng.IntN(2) == 0 {
			text = m.content[strings.TrimPrefix(rel, ".")].text
		}
		m.number++
		check(m, os.WriteFile(path+".temp", []byte(text), 0o644))
		m.replace(path)
		what = "replaces "
	default:
		check(m, m.trash(path))
		return "deletes " + path
	}
	m.own(path, false)
	m.linked = m.linked || path == m.out && see(path).mode.Type() == fs.ModeSymlink
	return what + path
}

// replace puts the file, link or directory with a temporary name in the place of another. The node may create that entry again at any moment.
func (m *model) replace(path string) {
	for {
		check(m, m.trash(path))
		if err := os.Rename(path+".temp", path); !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.EISDIR) {
			check(m, err)
			return
		}
	}
}

// trash removes what is at a path. It frees no inode number, which another file of the user's might get.
func (m *model) trash(path string) error {
	m.number++
	err := os.Rename(path, filepath.Join(m.dir, "trash", fmt.Sprint(m.number)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// inPlace changes a file and its ctime.
func (m *model) inPlace(path string, change func()) {
	before, err := os.Lstat(path)
	check(m, err)
	for {
		change()
		after, err := os.Lstat(path)
		check(m, err)
		if vfs.StatOf(after).Changed != vfs.StatOf(before).Changed {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	m.own(path, m.mine[path] == nil || m.mine[path].changed)
	is, err := os.Lstat(path)
	check(m, err)
	for other, o := range m.mine {
		if info, err := os.Lstat(other); err == nil && os.SameFile(info, is) {
			o.thing = see(other)
		}
	}
}

// away moves the destination away, or back.
func (m *model) away() {
	from, to := m.out, m.out+"-away"
	if see(to) != (thing{}) {
		from, to = to, from
	}
	if see(to) != (thing{}) || see(from) == (thing{}) {
		return
	}
	check(m, os.Rename(from, to))
	moved := map[string]*owned{}
	for path, o := range m.mine {
		if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '/') {
			moved[to+rest] = o
			delete(m.mine, path)
		}
	}
	maps.Copy(m.mine, moved)
}

// own records what is at a path, and below it, as the user's.
func (m *model) own(path string, changed bool) {
	check(m, filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		o := &owned{thing: see(path), changed: changed, repairable: changed && m.busy()}
		if was := m.mine[path]; was != nil {
			o.reused = was.reused
		}
		m.mine[path] = o
		return err
	}))
}

// ignore excludes a path, and the paths below it, from the checks.
func (m *model) ignore(path string) {
	for p := range m.mine {
		if rest, ok := strings.CutPrefix(p, path); ok && (rest == "" || rest[0] == '/') {
			delete(m.mine, p)
		}
	}
}
