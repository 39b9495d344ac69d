package peer_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
)

// changes are changes of a directory by [smallTree], and what a verify finds of them.
var changes = map[string]struct {
	path string
	do   func(path string) error
	what store.What // empty if nothing differs
	bad  bool       // the first piece is damaged or missing
}{
	"file removed":                {"b", os.Remove, store.Gone, true},
	"file cut":                    {"b", func(path string) error { return os.Truncate(path, 10) }, store.Cut, true},
	"file grown":                  {"b", func(path string) error { return os.Truncate(path, 1010) }, store.Grown, false},
	"file changed":                {"b", func(path string) error { return peertest.Flip(path, 100) }, store.Changed, true},
	"file touched":                {"b", func(path string) error { return os.Chmod(path, 0o600) }, "", false},
	"file replaced by link":       {"b", replace(func(path string) error { return os.Symlink("a", path) }), store.Replaced, true},
	"file replaced by directory":  {"b", replace(func(path string) error { return os.Mkdir(path, 0o755) }), store.Replaced, true},
	"empty file removed":          {"empty", os.Remove, store.Gone, false},
	"empty file filled":           {"empty", func(path string) error { return os.Truncate(path, 1) }, store.Grown, false},
	"empty file replaced by link": {"empty", replace(func(path string) error { return os.Symlink("a", path) }), store.Replaced, false},
	"link removed":                {"link", os.Remove, store.Gone, false},
	"link changed":                {"link", replace(func(path string) error { return os.Symlink("b", path) }), store.Changed, false},
	"link replaced by file":       {"link", replace(func(path string) error { return os.WriteFile(path, nil, 0o644) }), store.Replaced, false},
	"directory removed":           {"none", os.Remove, store.Gone, false},
	"directory replaced by file":  {"none", replace(func(path string) error { return os.WriteFile(path, nil, 0o644) }), store.Replaced, false},
}

// replace returns a function that removes a path before it calls create.
func replace(create func(path string) error) func(path string) error {
	return func(path string) error { return errors.Join(os.Remove(path), create(path)) }
}

// smallTree makes a directory with three files that share a piece, and one entry of each other kind.
func smallTree(t *testing.T) string {
	t.Helper()
	dir, _ := randomTree(t, 1000, "a", "b", "c")
	put(t, filepath.Join(dir, "empty"), "")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "none"), 0o755), os.Symlink("a", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestVerifyBeforeManifest verifies a transfer that looks for its manifest.
func TestVerifyBeforeManifest(t *testing.T) {
	t.Parallel()
	get := peertest.Get(t, peertest.Start(t, "A"), absent(t, "x"), filepath.Join(t.TempDir(), "x"))
	if _, err := get.Verify(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), "the manifest is not here") {
		t.Error(err)
	}
}

// checkVerified verifies a transfer of [smallTree] after a change of an entry.
func checkVerified(t *testing.T, tr *peer.Transfer, path string, what store.What, bad bool) {
	t.Helper()
	v, err := tr.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Difference{{Path: path, What: what}}
	if what == "" {
		want = []store.Difference{}
	}
	if !slices.Equal(v.Different, want) || v.Intact() != (what == "") {
		t.Errorf("found %+v, want %v", v, want)
	}
	pieces, files := v.Damaged.Count+v.Missing.Count, slices.Concat(v.Damaged.Files, v.Missing.Files)
	if !bad && pieces > 0 || bad && (pieces != 1 || !slices.Equal(files, []string{path})) || v.Damaged.OneOf != nil {
		t.Errorf("damaged %+v, missing %+v", v.Damaged, v.Missing)
	}
}

// TestVerifyNamesDifferences changes a seed and a copy of it.
func TestVerifyNamesDifferences(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, out := smallTree(t), filepath.Join(t.TempDir(), "out")
			a := peertest.Start(t, "A")
			seed, link := peertest.Seed(t, a, src, peer.SeedOptions{})
			get := peertest.Get(t, peertest.Start(t, "B"), link, out)
			peertest.Wait(t, get)
			if err := errors.Join(get.Flush(t.Context()), change.do(filepath.Join(src, change.path))); err != nil {
				t.Fatal(err)
			}
			checkVerified(t, seed, change.path, change.what, change.bad)
			if err := errors.Join(a.Close(), change.do(filepath.Join(out, change.path))); err != nil { // nothing can be fetched
				t.Fatal(err)
			}
			checkVerified(t, get, change.path, change.what, change.bad)
		})
	}
}

// TestVerifyOfStopped changes a copy that is not served.
func TestVerifyOfStopped(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		if change.what == store.Changed && change.bad {
			continue // the piece is in one of three files
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			_, link := peertest.Seed(t, peertest.Start(t, "A"), smallTree(t), peer.SeedOptions{})
			get := peertest.Get(t, peertest.Start(t, "B"), link, out)
			peertest.Wait(t, get)
			if err := errors.Join(get.Flush(t.Context()), get.Stop(), change.do(filepath.Join(out, change.path))); err != nil {
				t.Fatal(err)
			}
			checkVerified(t, get, change.path, change.what, change.bad)
			if st := get.Status(); (st.Have < st.Length) != change.bad || (st.PiecesHave < st.Pieces) != change.bad {
				t.Errorf("status has %d of %d pieces and %d of %d bytes", st.PiecesHave, st.Pieces, st.Have, st.Length)
			}
		})
	}
}

// TestVerifyOfFailing puts a directory in the place of a file, so that the transfer fails once a damaged piece was
// fetched again, which may be during the verification.
func TestVerifyOfFailing(t *testing.T) {
	t.Parallel()
	path, content := peertest.RandomFile(t, 2<<20)
	src, out := filepath.Join(filepath.Dir(path), "tree"), filepath.Join(t.TempDir(), "out")
	if err := errors.Join(os.Mkdir(src, 0o755), os.WriteFile(filepath.Join(src, "a"), content[:1<<20], 0o644),
		os.WriteFile(filepath.Join(src, "b"), content[1<<20:], 0o644)); err != nil {
		t.Fatal(err)
	}
	_, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
	get := peertest.Get(t, peertest.Start(t, "B"), link, out)
	peertest.Wait(t, get)
	if err := errors.Join(get.Flush(t.Context()), os.Remove(filepath.Join(out, "a")), os.Mkdir(filepath.Join(out, "a"), 0o755),
		os.Truncate(filepath.Join(out, "b"), 10)); err != nil {
		t.Fatal(err)
	}
	v, err := get.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (store.Difference{Path: "a", What: store.Replaced}); !slices.Contains(v.Different, want) || v.Intact() {
		t.Errorf("found %+v, want %v", v, want)
	}
}

// TestVerifyGivesWay removes a stopped transfer while it is verified, or gets it again. Neither waits until all is hashed.
func TestVerifyGivesWay(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*peer.Transfer) error{
		"remove": func(get *peer.Transfer) error {
			_, err := get.Node().Remove(get, false)
			return err
		},
		"get": func(get *peer.Transfer) error {
			_, err := get.Node().Get(get.Link(), get.Status().Root, peer.GetOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 100, peer.SeedOptions{})
			get := peertest.Get(t, peertest.Start(t, "B"), link, filepath.Join(t.TempDir(), "out"))
			peertest.Wait(t, get)
			if err := errors.Join(get.Flush(t.Context()), get.Stop()); err != nil {
				t.Fatal(err)
			}
			changed := make(chan error, 1)
			var once sync.Once
			_, err := get.Verify(t.Context(), func(int64, int64) {
				once.Do(func() {
					go func() { changed <- change(get) }()
					for !peer.Called(get) {
						runtime.Gosched()
					}
				})
			})
			if err == nil || !strings.Contains(err.Error(), "not verified to the end") {
				t.Errorf("verify: %v", err)
			}
			if err := <-changed; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestVerifyOneOf damages a piece of three files. The damaged file is not known.
func TestVerifyOneOf(t *testing.T) {
	t.Parallel()
	seed, _ := peertest.Seed(t, peertest.Start(t, "A"), smallTree(t), peer.SeedOptions{})
	if err := errors.Join(seed.Stop(), peertest.Flip(filepath.Join(seed.Status().Root, "b"), 100)); err != nil {
		t.Fatal(err)
	}
	v, err := seed.Verify(t.Context(), nil)
	if err != nil || v.Damaged.Count != 1 || len(v.Damaged.Files) > 0 || len(v.Damaged.OneOf) != 1 ||
		!slices.Equal(v.Damaged.OneOf[0].Files, []string{"a", "b", "c"}) {
		t.Errorf("found %+v, %v", v, err)
	}
}

// TestVerifyOfMoved moves a seed and a copy away. The error also advises what to do if a copy of the files has their path now.
func TestVerifyOfMoved(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(path string) error{
		"gone":     func(string) error { return nil },
		"replaced": func(path string) error { return os.Mkdir(path, 0o755) },
		"restored": func(path string) error { return os.CopyFS(path, os.DirFS(path+".moved")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, out := smallTree(t), filepath.Join(t.TempDir(), "out")
			seed, link := peertest.Seed(t, peertest.Start(t, "A"), src, peer.SeedOptions{})
			get := peertest.Get(t, peertest.Start(t, "B"), link, out)
			peertest.Wait(t, get)
			again := map[*peer.Transfer]string{seed: "`mob seed` it again", get: "`mob get` the link again"}
			for path, tr := range map[string]*peer.Transfer{src: seed, out: get} {
				if err := errors.Join(os.Rename(path, path+".moved"), after(path)); err != nil {
					t.Fatal(err)
				}
				v, err := tr.Verify(t.Context(), nil)
				if want := path + " was moved away, replaced or unmounted: put it back, or " + again[tr]; err == nil || err.Error() != want {
					t.Errorf("found %+v, %v", v, err)
				}
			}
		})
	}
}
