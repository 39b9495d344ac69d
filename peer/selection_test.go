package peer_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// seedTree seeds a directory of four files that begin and end within pieces, and returns their bytes.
func seedTree(t *testing.T, n *peer.Node, opts ...peer.SeedOptions) (*proto.Link, map[string][]byte) {
	t.Helper()
	dir, files := randomTree(t, 1<<20+1000, "a/1", "a/2", "b/3", "c")
	_, link := peertest.Seed(t, n, dir, append(opts, peer.SeedOptions{})[0])
	return link, files
}

// getPart gets the files that a glob matches.
func getPart(t *testing.T, n *peer.Node, link *proto.Link, out, glob string) *peer.Transfer {
	t.Helper()
	get, err := n.Get(link, out, peer.GetOptions{Select: peer.Selection{Include: []string{glob}}})
	if err != nil {
		t.Fatal(err)
	}
	return get
}

// equalFiles checks that a directory has exactly these files.
func equalFiles(t *testing.T, dir string, files map[string][]byte, names ...string) {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			found = append(found, name)
		}
		return err
	})
	if err != nil || !slices.Equal(found, names) {
		t.Fatalf("files are %q, %v; want %q", found, err, names)
	}
	for _, name := range names {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, files[name]) {
			t.Errorf("%s differs, %v", name, err)
		}
	}
}

// TestSelect fetches some of the files, again after a restart, then one more, then all.
func TestSelect(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "A")
	link, files := seedTree(t, a)
	all := slices.Sorted(maps.Keys(files))
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := peertest.Start(t, "B", peertest.Data(data))
	get := getPart(t, b, link, out, "a/2")
	peertest.Wait(t, get)
	equalFiles(t, out, files, "a/2")
	st := get.Status()
	piece := int64(st.PieceLength)
	if want := (peer.LeftOut{Files: 3, Bytes: 3 * (1<<20 + 1000)}); st.LeftOut.Files != want.Files || st.LeftOut.Bytes != want.Bytes {
		t.Errorf("left out are %+v, want %+v", st.LeftOut, want)
	}
	if st.Have != st.Length || st.Traffic.WANIn-st.Duplicate != st.Length || st.Length > 1<<20+1000+2*piece {
		t.Errorf("has %d of %d bytes, and received %+v", st.Have, st.Length, st.Traffic)
	}
	verify := func(get *peer.Transfer) {
		t.Helper()
		v, err := get.Verify(t.Context(), nil)
		if err != nil || !v.Intact() || v.Checked != v.Pieces || v.LeftOut != get.Status().LeftOut {
			t.Errorf("verified are %+v, %v", v, err)
		}
	}
	verify(get)
	for _, glob := range []string{"a/2", "?/2", "**/2"} {
		if again := getPart(t, b, link, out, glob); again.Status().Phase != peer.Whole {
			t.Errorf("phase %s after a get of %s, which it has", again.Status().Phase, glob)
		}
	}

	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = peertest.Start(t, "B", peertest.Data(data))
	get = b.Transfers()[0]
	peertest.Wait(t, get)
	verify(get)
	if got := get.Status().Traffic.WANIn; got != 0 {
		t.Errorf("%d bytes received after the restart", got)
	}

	get = getPart(t, b, link, out, "c")
	peertest.Wait(t, get)
	equalFiles(t, out, files, "a/2", "c")
	verify(get)
	peertest.Wait(t, peertest.Get(t, b, link, out))
	equalFiles(t, out, files, all...)
	st = get.Status()
	if st.LeftOut != (peer.LeftOut{}) || st.Length != 4*(1<<20+1000) {
		t.Errorf("left out of %d bytes are %+v", st.Length, st.LeftOut)
	}
	verify(get)
	if st.Traffic.WANIn-st.Duplicate > 3*(1<<20+1000)+6*piece {
		t.Errorf("%d bytes received for the remaining files", st.Traffic.WANIn)
	}
	left, err := b.Remove(get, true)
	if _, statErr := os.Stat(out); err != nil || len(left) > 0 || !os.IsNotExist(statErr) {
		t.Errorf("left are %v, %v, %v", left, err, statErr)
	}
}

// TestSelectPartialSources fetches a directory from two nodes that have different files of it.
func TestSelectPartialSources(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	a := tracker.Start(t, "A")
	link, files := seedTree(t, a)
	for cluster, glob := range map[string]string{"B": "a", "C": "[bc]"} {
		get := getPart(t, tracker.Start(t, cluster), link, filepath.Join(t.TempDir(), "out"), glob)
		peertest.Wait(t, get)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, cluster := range []string{"B", "D"} {
		out := filepath.Join(t.TempDir(), "out")
		get := peertest.Get(t, tracker.Start(t, cluster), link, out)
		peertest.Wait(t, get)
		equalFiles(t, out, files, slices.Sorted(maps.Keys(files))...)
		if st := get.Status(); st.WholeNodes > 1 {
			t.Errorf("%d nodes are complete", st.WholeNodes)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	link, files := seedTree(t, a)
	_, file, _ := peertest.SeedRandom(t, a, 9, peer.SeedOptions{})
	_, coded, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{Coded: 4})
	for _, c := range []struct {
		link *proto.Link
		want string
	}{{link, "no file"}, {file, "single file"}, {coded, "coded"}} {
		out := filepath.Join(t.TempDir(), "out")
		get := getPart(t, b, c.link, out, "d")
		if err := get.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("%s was created, %v", out, err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, getPart(t, b, link, out, "b"))
	equalFiles(t, out, files, "b/3")
	if _, err := b.Get(link, out, peer.GetOptions{Select: peer.Selection{Include: []string{"d"}}}); err == nil {
		t.Error("a get of no file succeeds")
	}
	equalFiles(t, out, files, "b/3")
	if _, err := b.Get(link, out, peer.GetOptions{Select: peer.Selection{Exclude: []string{"["}}}); err == nil {
		t.Error("an invalid glob is accepted")
	}
}

// TestSelectLinger fetches a part at one node of a cluster, which trackers count as incomplete, and all at another one.
// Neither waits for the other, and both wait for a third one.
func TestSelectLinger(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	for name, start := range map[string]func(t testing.TB, cluster string, opts ...peertest.Option) *peer.Node{
		"sessions alone": peertest.Start, "with a tracker": tracker.Start,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link, _ := seedTree(t, start(t, "A"))
			b := start(t, "B")
			gets := []*peer.Transfer{getPart(t, b, link, filepath.Join(t.TempDir(), "out"), "a")}
			both := *link
			both.Peers = slices.Concat(link.Peers, b.Addrs())
			gets = append(gets, peertest.Get(t, start(t, "B"), &both, filepath.Join(t.TempDir(), "out")))
			waitsFor := func(want int) {
				t.Helper()
				for _, get := range gets {
					peertest.Wait(t, get)
					peertest.Eventually(t, "the number of incomplete nodes", func() bool {
						return get.Incomplete(t.Context(), peer.Site) == want && get.Incomplete(t.Context(), peer.Cluster) == want
					})
				}
			}
			peertest.Eventually(t, "both nodes", func() bool { return gets[1].Status().Connected == 2 })
			waitsFor(0)
			if n := gets[1].Status().WholeNodes; n != 1 {
				t.Errorf("%d complete nodes, want the source", n)
			}
			if name == "with a tracker" {
				tracker.Add(link, unreachable(t, "B"))
				waitsFor(1)
			}
		})
	}
}

// TestSelectPlanned fetches a part at a host of a plan, and all at the host that it would send to, which does not wait
// for it.
func TestSelectPlanned(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	nodes := startHosts(t, tracker, "a1", "b1", "c1")
	link, files := seedTree(t, nodes[0], peer.SeedOptions{Plan: chainOf("a1", "b1", "c1")})
	peertest.Wait(t, getPart(t, nodes[1], link, filepath.Join(t.TempDir(), "out"), "a"))
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, nodes[2], link, out)
	followed := 0
	peertest.Eventually(t, "the content", func() bool {
		st := get.Status()
		followed += st.Plan.Followed
		return st.Phase == peer.Whole
	})
	equalFiles(t, out, files, slices.Sorted(maps.Keys(files))...)
	if p := get.Status().Plan; !p.Known || p.Parents != 1 || followed > 0 {
		t.Errorf("it followed the host with a part; the plan is %+v", p)
	}
}

// TestSelectDamagedSeed seeds a part of the content, and changes a piece that has bytes of a file that is not there.
func TestSelectDamagedSeed(t *testing.T) {
	t.Parallel()
	link, files := seedTree(t, peertest.Start(t, "A"))
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	b := peertest.Start(t, "B", peertest.Data(data))
	get := getPart(t, b, link, out, "c")
	peertest.Wait(t, get)
	if _, err := b.Seed(t.Context(), out, peer.SeedOptions{}); err != nil {
		t.Fatal(err)
	}
	peertest.Eventually(t, "the part is seeded", func() bool { return get.Status().Seed && get.Status().Phase == peer.Whole })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(files["c"])
	changed[0]++
	put(t, filepath.Join(out, "c"), string(changed))
	b = peertest.Start(t, "B", peertest.Data(data))
	get, err := b.Transfer(link.String())
	if err != nil {
		t.Fatal(err)
	}
	var different *peer.DifferentError
	err = get.Wait(t.Context())
	if !errors.As(err, &different) || len(different.State.Different) != 1 || different.State.Different[0].Path != "c" {
		t.Errorf("error is %v", err)
	}
}

// TestSelectCluster fetches a part at one of two nodes of a cluster, and all at the other one.
func TestSelectCluster(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	link, files := seedTree(t, tracker.Start(t, "A"))
	b, c := tracker.Start(t, "B"), tracker.Start(t, "B")
	outs := []string{filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")}
	gets := []*peer.Transfer{getPart(t, b, link, outs[0], "a"), peertest.Get(t, c, link, outs[1])}
	for _, get := range gets {
		peertest.Wait(t, get)
	}
	equalFiles(t, outs[0], files, "a/1", "a/2")
	equalFiles(t, outs[1], files, slices.Sorted(maps.Keys(files))...)
}

// TestSelectKeep: only the fetched bytes of a part count, and only its files are deleted.
func TestSelectKeep(t *testing.T) {
	t.Parallel()
	b := peertest.Start(t, "B")
	link, files := seedTree(t, peertest.Start(t, "A"))
	out := filepath.Join(t.TempDir(), "out")
	get := getPart(t, b, link, out, "a/2")
	peertest.Wait(t, get)
	put(t, filepath.Join(out, "c"), string(files["c"]))
	for _, missing := range []int64{0, 1} {
		b.SetKeep(peer.Keep{Disk: get.Status().Length - missing, Delete: true})
		peer.EndAll(b, time.Now().Add(time.Hour))
		if ended := len(b.Transfers()) == 0; ended != (missing > 0) {
			t.Errorf("ended is %v with room for all but %d bytes", ended, missing)
		}
	}
	equalFiles(t, out, files, "c")
}

// TestSelectUserFile gets all of the content once the user has made a file at the path of a left-out one.
func TestSelectUserFile(t *testing.T) {
	t.Parallel()
	b := peertest.Start(t, "B")
	link, files := seedTree(t, peertest.Start(t, "A"))
	out := filepath.Join(t.TempDir(), "out")
	get := getPart(t, b, link, out, "a/2")
	peertest.Wait(t, get)
	put(t, filepath.Join(out, "c"), "mine")
	for range 2 { // running, and stopped
		var exists *store.ExistsError
		if _, err := b.Get(link, out, peer.GetOptions{}); !errors.As(err, &exists) || exists.Path != filepath.Join(out, "c") {
			t.Errorf("error is %v", err)
		}
		equalFiles(t, out, map[string][]byte{"a/2": files["a/2"], "c": []byte("mine")}, "a/2", "c")
		peertest.Wait(t, getPart(t, b, link, out, "a/2"))
		if err := get.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	peertest.Wait(t, getPart(t, b, link, out, "b"))
	equalFiles(t, out, map[string][]byte{"a/2": files["a/2"], "b/3": files["b/3"], "c": []byte("mine")}, "a/2", "b/3", "c")
	get, err := b.Get(link, out, peer.GetOptions{Reuse: true})
	if err != nil {
		t.Fatal(err)
	}
	peertest.Wait(t, get)
	equalFiles(t, out, files, slices.Sorted(maps.Keys(files))...)
}

// TestSelectUserFileAtDirectory gets all of the content once the user has made a file at the path of a left-out directory.
func TestSelectUserFileAtDirectory(t *testing.T) {
	t.Parallel()
	b := peertest.Start(t, "B")
	link, files := seedTree(t, peertest.Start(t, "A"))
	out := filepath.Join(t.TempDir(), "out")
	peertest.Wait(t, getPart(t, b, link, out, "a/2"))
	put(t, filepath.Join(out, "b"), "mine")
	for _, reuse := range []bool{false, true} {
		var exists *store.ExistsError
		_, err := b.Get(link, out, peer.GetOptions{Reuse: reuse})
		if !errors.As(err, &exists) || exists.Path != filepath.Join(out, "b") || !exists.OtherKind {
			t.Errorf("with reuse %v the error is %v", reuse, err)
		}
		equalFiles(t, out, map[string][]byte{"a/2": files["a/2"], "b": []byte("mine")}, "a/2", "b")
	}
}

// TestSelectWhileFetching gets all of the content while a part is fetched. The pieces of the part stay.
func TestSelectWhileFetching(t *testing.T) {
	t.Parallel()
	gate := peertest.NewGate(1 << 20)
	link, files := seedTree(t, peertest.Start(t, "A", peertest.WithGate(gate)))
	b, out := peertest.Start(t, "B"), filepath.Join(t.TempDir(), "out")
	part := getPart(t, b, link, out, "a")
	peertest.Eventually(t, "some pieces", func() bool { return part.Status().PiecesHave > 10 })
	all := peertest.Get(t, b, link, out)
	gate.Open()
	peertest.Wait(t, all)
	peertest.Wait(t, part)
	equalFiles(t, out, files, slices.Sorted(maps.Keys(files))...)
	if st := all.Status(); st.LeftOut.Files != 0 || st.Traffic.WANIn-st.Duplicate > st.Length-10*int64(st.PieceLength) {
		t.Errorf("received %d of %d bytes, and left out %+v", st.Traffic.WANIn, st.Length, st.LeftOut)
	}
}

// TestSelectTwice gets two parts of the content before the node has the manifest.
func TestSelectTwice(t *testing.T) {
	t.Parallel()
	tracker, data := peertest.NewTracker(), peertest.Data(t.TempDir())
	a, b := tracker.Start(t, "A", data), tracker.Start(t, "B")
	link, files := seedTree(t, a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	get := getPart(t, b, link, out, "a")
	getPart(t, b, link, out, "c")
	tracker.Start(t, "A", data)
	peertest.Wait(t, get)
	equalFiles(t, out, files, "a/1", "a/2", "c")
}
