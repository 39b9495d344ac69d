package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store/vfs"
)

const testPieces = 6

// testShape has a directory, and three files of two pieces each.
var testShape = Shape{
	Pieces: testPieces, Entries: 4,
	PiecesOf: func(entry int) (first, after int) { return max(0, 2*entry-2), 2 * entry },
}

var testHeader = Header{Manifest: [32]byte{1, 2, 3}}

// script appends one record each.
func script() []func(*Journal) error {
	return []func(*Journal) error{
		func(j *Journal) error { return j.Boot(BootID{1}) },
		func(j *Journal) error { return j.SetFile(1, File{Stamp: Stamp{Inode: 77}, Made: true}) },
		func(j *Journal) error { return j.Commit(0) },
		func(j *Journal) error { return j.Commit(5) },
		func(j *Journal) error { return j.Mark(j.Next()) },
		func(j *Journal) error { return j.Commit(3) },
		func(j *Journal) error { return j.Forget(5) },
		func(j *Journal) error { return j.Unverify(1, File{Stamp: Stamp{Inode: 77}, Touched: true}) },
		func(j *Journal) error { return j.Commit(4) },
		func(j *Journal) error { return j.Boot(BootID{2}) },
		func(j *Journal) error { return j.Commit(5) },
		func(j *Journal) error { return j.SetFile(2, File{Stamp: Stamp{-5, 7}, Foreign: true, Final: true}) },
		func(j *Journal) error { return j.Found(3, File{Stamp: Stamp{1, 9}}) },
		func(j *Journal) error { return j.Boot(BootID{}) },
		func(j *Journal) error { return j.Commit(4) },
		func(j *Journal) error { return j.Complete() },
		func(j *Journal) error { return j.Forget(2) },
		func(j *Journal) error { return j.Commit(2) },
	}
}

// write runs the script. It returns the file, and the states of the pieces before and
// after each record.
func write(t testing.TB) (data []byte, states [][]State) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(vfs.OS{}, path, testHeader, testShape)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	states = append(states, slices.Clone(j.ledger.state))
	for i, step := range script() {
		if err := step(j); err != nil || j.Next() != uint32(i+1) {
			t.Fatalf("step %d: %d records, %v", i, j.Next(), err)
		}
		states = append(states, slices.Clone(j.ledger.state))
	}
	data, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, states
}

// reopen opens a journal with those bytes in dir, and closes it.
func reopen(t *testing.T, dir string, data []byte) (*Journal, error) {
	t.Helper()
	path := filepath.Join(dir, "journal")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := Open(vfs.OS{}, path, testHeader.Manifest, testShape)
	if err == nil {
		err = j.Close()
	}
	return j, err
}

func TestTornAtEveryByte(t *testing.T) {
	data, states := write(t)
	dir := t.TempDir()
	for n := range len(data) + 1 {
		j, err := reopen(t, dir, data[:n])
		if n < headerSize {
			if !errors.Is(err, ErrNone) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		records := (n - headerSize) / recordSize
		if want := states[records]; !slices.Equal(j.ledger.state, want) {
			t.Errorf("%d bytes: %v, want %v", n, j.ledger.state, want)
		}
		// Records that follow the cut are read.
		j, err = Open(vfs.OS{}, j.path, testHeader.Manifest, testShape)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Commit(1), j.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(j.path)
		if err != nil || len(again) != headerSize+(records+1)*recordSize {
			t.Fatalf("%d bytes after the cut at %d, %v", len(again), n, err)
		}
		if j2, err := reopen(t, t.TempDir(), again); err != nil || !equalLedgers(j2.ledger, j.ledger) {
			t.Errorf("cut at %d: reopened as %+v, %v; was %+v", n, j2.ledger, err, j.ledger)
		}
	}
}

func TestZeroTail(t *testing.T) {
	data, states := write(t)
	j, err := reopen(t, t.TempDir(), append(data, make([]byte, 4096)...))
	if err != nil || !slices.Equal(j.ledger.state, states[len(states)-1]) {
		t.Fatalf("%v, %v", j, err)
	}
}

func TestFlippedBits(t *testing.T) {
	data, states := write(t)
	last := len(states) - 2
	for bit := range len(data) * 8 {
		flipped := slices.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if bit/8 < headerSize {
			if h, version := parseHeader(flipped); version != 0 {
				t.Errorf("bit %d of the header: %+v", bit, h)
			}
			continue
		}
		l := newLedger(&testShape, false)
		replay(flipped[headerSize:], l)
		record := (bit/8 - headerSize) / recordSize
		if record == last {
			if !slices.Equal(l.state, states[last]) {
				t.Errorf("bit %d of the last record: %v", bit, l.state)
			}
			continue
		}
		for piece, s := range l.state {
			if s == Verified && !committedAfter(data, record, piece) {
				t.Errorf("bit %d of record %d: piece %d is trusted", bit, record, piece)
			}
			if s == Verified && states[last+1][piece] != Verified {
				t.Errorf("bit %d of record %d: piece %d is better than it was", bit, record, piece)
			}
		}
	}
}

// committedAfter reports whether a record after that one commits the piece.
func committedAfter(data []byte, after, piece int) bool {
	for at := headerSize + (after+1)*recordSize; at < len(data); at += recordSize {
		r, _ := parseRecord(data[at : at+recordSize])
		if r.kind == recordMark && r.flags == flagAll || r.kind == recordCommit && int(r.index) == piece {
			return true
		}
	}
	return false
}

func TestBoots(t *testing.T) {
	for _, test := range []struct {
		name   string
		before BootID
		after  BootID
		want   State
	}{
		{"same", BootID{1}, BootID{1}, Verified},
		{"other", BootID{1}, BootID{2}, Unverified},
		{"unknown", BootID{}, BootID{}, Unverified},
		{"no longer known", BootID{1}, BootID{}, Unverified},
		{"known now", BootID{}, BootID{1}, Unverified},
	} {
		t.Run(test.name, func(t *testing.T) {
			j, err := Create(vfs.OS{}, filepath.Join(t.TempDir(), "journal"), testHeader, testShape)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			for _, err := range []error{j.Boot(test.before), j.Commit(0), j.Mark(j.Next()), j.Commit(1), j.Boot(test.after)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if j.State(0) != Verified || j.State(1) != test.want || j.State(2) != Missing {
				t.Errorf("pieces are %v", j.ledger.state)
			}
		})
	}
}

func TestOtherContent(t *testing.T) {
	data, _ := write(t)
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(vfs.OS{}, path, [32]byte{9}, testShape); !errors.Is(err, ErrOther) {
		t.Errorf("journal of another content: %v", err)
	}
	if _, err := Open(vfs.OS{}, path+"x", testHeader.Manifest, testShape); !errors.Is(err, ErrNone) {
		t.Errorf("no journal: %v", err)
	}
}

// TestSeedVerified checks that the pieces of a seed are verified without a record, whatever the boot.
func TestSeedVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(vfs.OS{}, path, Header{Seed: true}, testShape)
	if err != nil || errors.Join(j.Boot(BootID{1}), j.Forget(1), j.Close()) != nil {
		t.Fatal(err)
	}
	j, err = Open(vfs.OS{}, path, [32]byte{}, testShape)
	if err != nil || j.Boot(BootID{2}) != nil || !j.Verified(0) || j.Verified(1) {
		t.Errorf("pieces %v, %v", j.ledger.state, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func equalLedgers(a, b *ledger) bool {
	return slices.Equal(a.state, b.state) && slices.Equal(a.number, b.number) && slices.Equal(a.files, b.files) &&
		a.mark == b.mark && a.boot == b.boot && a.booted == b.booted
}

// openVersion1 opens a journal of version 1 with some records.
func openVersion1(t *testing.T, seed bool, records ...record) (*Journal, error) {
	t.Helper()
	b := Header{Seed: seed}.encode()
	binary.LittleEndian.PutUint32(b[8:], 1)
	binary.LittleEndian.PutUint32(b[60:], checksum(b[:60]))
	for i, r := range records {
		r.number = uint32(i)
		b = append(b, make([]byte, recordSize)...)
		copy(b[len(b)-recordSize:], r.append(nil))
	}
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := Open(vfs.OS{}, path, [32]byte{}, testShape)
	if err != nil {
		return nil, err
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(vfs.OS{}, path, [32]byte{}, testShape) // rewritten
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	if !equalLedgers(j.ledger, first.ledger) {
		t.Errorf("opened again: %+v, want %+v", j.ledger, first.ledger)
	}
	return j, nil
}

func TestVersion1(t *testing.T) {
	boot := bootRecord(BootID{1})
	commit := func(piece uint32) record { return record{kind: recordCommit, index: piece} }
	j, err := openVersion1(t, false, boot, commit(0), commit(1), commit(2), record{kind: recordMark, a: 3},
		record{kind: recordUnverified, index: 1}, record{kind: recordUnverified, index: 5, a: 1},
		record{kind: recordInode, index: 0, a: 7, b: 1}, record{kind: recordStamp, index: 0, a: 30, b: 7},
		record{kind: recordStamp, index: 1, a: 40, b: 8}, record{kind: recordEntry, index: 4, a: 9})
	if err != nil {
		t.Fatal(err)
	}
	if want := []State{Verified, Unverified, Verified, Missing, Missing, Unverified}; !slices.Equal(j.ledger.state, want) {
		t.Errorf("pieces %v, want %v", j.ledger.state, want)
	}
	if !j.Lasting(5, BootID{2}) || j.Lasting(2, BootID{2}) {
		t.Error("a piece that was found, or committed before the mark, does not last")
	}
	want := []File{{}, {Stamp: Stamp{30, 7}, Made: true}, {Stamp: Stamp{40, 8}, Foreign: true}, {}, {Stamp: Stamp{0, 9}}}
	if !slices.Equal(j.ledger.files, want) {
		t.Errorf("files %+v, want %+v", j.ledger.files, want)
	}
	whole := record{kind: recordWhole}
	j, err = openVersion1(t, false, boot, record{kind: recordInode, index: 0, a: 7, b: 1}, whole, record{kind: recordUnverified, index: 0})
	if err != nil || !j.Marked() || j.State(0) != Unverified || !j.Verified(5) || !j.File(1).Final || len(j.Unmarked()) > 1 {
		t.Errorf("complete: %+v, %v", j.ledger, err)
	}
	j, err = openVersion1(t, true, boot, whole, record{kind: recordForget, index: 2}, record{kind: recordUnverified, index: 4})
	if want := []State{Verified, Verified, Missing, Verified, Unverified, Verified}; err != nil || !slices.Equal(j.ledger.state, want) {
		t.Errorf("seed: pieces %v, want %v, %v", j.ledger.state, want, err)
	}
	if _, err := openVersion1(t, true, boot); !errors.Is(err, ErrNone) {
		t.Errorf("seed that is not complete: %v", err)
	}
}

// TestBornAndChanged records files with the times of their creation and of their last change.
func TestBornAndChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(vfs.OS{}, path, testHeader, testShape)
	if err != nil {
		t.Fatal(err)
	}
	want := File{Stamp: Stamp{5, 77}, Born: 3, Touched: true}
	if err := errors.Join(j.SetFile(1, want), j.Found(2, want), j.SetFiles(map[int]File{3: want}), j.SetFile(3, want)); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"recorded", "read"} {
		for entry := 1; entry <= 3; entry++ {
			if is := j.File(entry); is != want {
				t.Errorf("%s: entry %d is %+v, want %+v", when, entry, is, want)
			}
		}
		if j.State(1) != Missing || j.State(2) != Unverified || j.Next() != 7 {
			t.Errorf("%s: %d records, pieces %v", when, j.Next(), j.ledger.state)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if j, err = Open(vfs.OS{}, path, testHeader.Manifest, testShape); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestJournalLink checks that a symbolic link at the path of a journal is replaced by Create and rejected by Open, and
// that its target stays as it is.
func TestJournalLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "journal")
	create := func(path string) {
		j, err := Create(vfs.OS{}, path, testHeader, testShape)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	create(target)
	before, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	before = append(before, "torn tail"...)
	if err := os.WriteFile(target, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(vfs.OS{}, path, testHeader.Manifest, testShape); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Open of a link: %v, want %v", err, syscall.ELOOP)
	}
	create(path)
	if after, err := os.ReadFile(target); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the target has %q, %v; want %q", after, err, before)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the journal is not a regular file: %v, %v", info, err)
	}
}

func TestCurrentBoot(t *testing.T) {
	if a, b := CurrentBoot(), CurrentBoot(); a != b {
		t.Error("the boot id changes")
	}
}
