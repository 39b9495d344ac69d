package cast

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/cast/launch"
)

// TestFile casts a file to the homes of some hosts.
func TestFile(t *testing.T) {
	t.Parallel()
	g := newGrid(t, hostNames(3)...)
	const name = `it's "a" file`
	path, content := randomFile(t, name, 3<<20)
	r := g.mustCast(g.config(path, hostNames(3)...))
	for _, h := range r.Hosts {
		g.checkFile(content, g.home(h.Name, name))
		if h.Bytes != int64(len(content)) || h.WAN > 0 || h.LAN < h.Bytes || h.Took <= 0 || h.Took > r.Took || h.Exit != nil {
			t.Errorf("%+v", h)
		}
		info, err := os.Stat(g.home(h.Name, name))
		must(t, err)
		if info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v", info.Mode())
		}
	}
	if r.Length != int64(len(content)) {
		t.Errorf("length %d", r.Length)
	}
}

// TestEmptyFile casts an empty file to a new directory.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a")
	path, _ := randomFile(t, "empty", 0)
	cfg := g.config(path, "a")
	cfg.Dest = "new/folder/"
	g.mustCast(cfg)
	g.checkFile(nil, g.home("a", "new/folder/empty"))
}

// TestShortContent casts a few bytes, which go to each host with its orders: they count as sent by the caster.
func TestShortContent(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d"}
	g := newGrid(t, names...)
	src := filepath.Join(t.TempDir(), "tree")
	must(t, os.MkdirAll(filepath.Join(src, "sub"), 0o755))
	must(t, os.Chmod(src, 0o755))
	one, two := randomBytes(5000), randomBytes(3000)
	must(t, os.WriteFile(filepath.Join(src, "one"), one, 0o600))
	must(t, os.WriteFile(filepath.Join(src, "sub", "two"), two, 0o644))
	must(t, os.Symlink("sub/two", filepath.Join(src, "link")))
	cfg := g.config(src, names...)
	for i := range cfg.Hosts {
		cfg.Hosts[i].Cluster = "far"
	}
	cfg.Hosts[0].Cluster, cfg.Cluster = "near", "near"
	began := time.Now()
	r := g.mustCast(cfg)
	took := time.Since(began)
	wan := int64(0)
	for i := range r.Hosts {
		h := &r.Hosts[i]
		if wan += h.WAN; h.Bytes != 8000 || h.LAN+h.WAN != 8000 || i == 0 && h.WAN > 0 {
			t.Errorf("%+v", h)
		}
		g.checkFile(one, g.home(h.Name, "tree", "one"))
		g.checkFile(two, g.home(h.Name, "tree", "link"))
		g.checkUsualMode(g.home(h.Name, "tree"))
	}
	// An agent gives up a neighbor that it does not reach in a second, so this is not sure on a machine that stalls.
	if t.Logf("%d bytes entered the cluster in %v", wan, took); wan != 8000 && took < 2*time.Second {
		t.Error("more than once")
	}
}

// TestFirstOfCluster logs in again to the first agent of a cluster, which gets a short content from the caster again.
func TestFirstOfCluster(t *testing.T) {
	t.Parallel()
	s := &source{first: map[string]offer{}}
	s.handed.Store(true)
	inCluster := func(name string) *host {
		h := new(host)
		h.is.Cluster = name
		return h
	}
	first, second := inCluster("a"), inCluster("a")
	for i, c := range []struct {
		host *host
		want []string
	}{{first, nil}, {second, []string{"0"}}, {first, nil}, {second, []string{"2"}}, {inCluster("b"), nil}} {
		if got := s.neighborOf(c.host, &launch.Process{Offers: []string{strconv.Itoa(i)}}); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// TestDirectory casts a directory with links, modes and times.
func TestDirectory(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b")
	src := filepath.Join(t.TempDir(), "tree")
	must(t, os.MkdirAll(filepath.Join(src, "sub dir"), 0o755))
	must(t, os.Chmod(src, 0o755))
	content := randomBytes(300_000)
	must(t, os.WriteFile(filepath.Join(src, "sub dir", "run"), content, 0o755))
	must(t, os.WriteFile(filepath.Join(src, "none"), nil, 0o600))
	must(t, os.Symlink("sub dir/run", filepath.Join(src, "link")))
	then := time.Unix(1_600_000_000, 0)
	must(t, os.Chtimes(filepath.Join(src, "sub dir", "run"), then, then))
	cfg := g.config(src, "a", "b")
	cfg.Dest = "copy of %h"
	g.mustCast(cfg)
	for _, name := range []string{"a", "b"} {
		copied := g.home(name, "copy of "+name)
		g.checkFile(content, filepath.Join(copied, "sub dir", "run"))
		info, err := os.Stat(filepath.Join(copied, "sub dir", "run"))
		must(t, err)
		if info.Mode().Perm() != 0o755 || !info.ModTime().Equal(then) {
			t.Errorf("mode %v, time %v", info.Mode(), info.ModTime())
		}
		g.checkUsualMode(copied)
		if to, err := os.Readlink(filepath.Join(copied, "link")); err != nil || to != "sub dir/run" {
			t.Errorf("link to %q, %v", to, err)
		}
		g.checkFile(nil, filepath.Join(copied, "none"))
	}
}

// TestDestination checks that the destination follows the rules of cp, and replaces nothing without Force.
func TestDestination(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "absent", "file", "folder", "readonly")
	path, content := randomFile(t, "src", 70_000)
	must(t, os.WriteFile(g.home("file", "x"), []byte("mine"), 0o600))
	must(t, os.Mkdir(g.home("folder", "x"), 0o755))
	readonly := os.Getuid() != 0 // root writes anyway
	if readonly {
		must(t, os.Chmod(g.home("readonly"), 0o555))
	} else {
		must(t, os.WriteFile(g.home("readonly", "x"), nil, 0o600))
	}
	cfg := g.config(path, "absent", "file", "folder", "readonly")
	cfg.Dest = "x"
	r, err := g.cast(cfg)
	must(t, err)
	g.checkFile(content, g.home("absent", "x"))
	checkFailed(t, &r.Hosts[1], "x exists already: replace it with --force")
	g.checkFile([]byte("mine"), g.home("file", "x"))
	g.checkFile(content, g.home("folder", "x", "src"))
	if readonly {
		checkFailed(t, &r.Hosts[3], "permission denied")
	} else {
		checkFailed(t, &r.Hosts[3], "exists already")
	}

	cfg = g.config(path, "file", "folder")
	cfg.Dest, cfg.Force = "x", true
	g.mustCast(cfg)
	g.checkFile(content, g.home("file", "x"))
	g.checkFile(content, g.home("folder", "x", "src"))
}

// TestDirToExistingDestination casts a directory to a DEST with a part of it, as a crash leaves it. The content
// does not go into DEST: the cast fails without Force, and completes DEST with it.
func TestDirToExistingDestination(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"node": 300_000, "in the Start message": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGrid(t, "a")
			src := filepath.Join(t.TempDir(), "src")
			one, two := randomBytes(size), randomBytes(size)
			must(t, os.MkdirAll(src, 0o755))
			must(t, os.WriteFile(filepath.Join(src, "one"), one, 0o644))
			must(t, os.WriteFile(filepath.Join(src, "two"), two, 0o644))
			must(t, os.Mkdir(g.home("a", "out"), 0o755))
			must(t, os.WriteFile(g.home("a", "out", "one"), make([]byte, size), 0o644))
			cfg := g.config(src, "a")
			cfg.Dest = "out"
			r, err := g.cast(cfg)
			must(t, err)
			checkFailed(t, &r.Hosts[0], "out exists already: replace it with --force, or copy into it with a slash at the end of DEST")
			cfg.Force = true
			for range 2 {
				g.mustCast(cfg)
				g.checkFile(one, g.home("a", "out", "one"))
				g.checkFile(two, g.home("a", "out", "two"))
				one = append([]byte("new"), one[3:]...)
				must(t, os.WriteFile(filepath.Join(src, "one"), one, 0o644))
			}
			cfg.Dest = "out/"
			g.mustCast(cfg)
			g.checkFile(two, g.home("a", "out", "src", "two"))
		})
	}
}

// TestSameWords checks that hosts that fail for the same reason in different directories report the same text.
func TestSameWords(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b", "c")
	path, content := randomFile(t, "src", 70_000)
	for _, name := range []string{"a", "b", "c"} {
		must(t, os.Mkdir(g.home(name, "to-"+name), 0o755))
		must(t, os.WriteFile(g.home(name, "to-"+name, "src"), nil, 0o600))
		must(t, os.WriteFile(g.home(name, "src"), nil, 0o600))
	}
	for _, test := range []struct{ source, dest, want string }{
		{path, "", "src exists already: replace it with --force"},
		{path, "to-%h", "to-%h/src exists already: replace it with --force"},
		{path, g.root + "/%h/home/to-%h/", g.root + "/%h/home/to-%h/src exists already: replace it with --force"},
		{path, "to-%h/src/x", "to-%h/src"},
		{"-", "to-%h/src", "to-%h/src exists already: replace it with --force"},
		{"-", "to-%h/src/x", "to-%h/src"},
	} {
		cfg := g.config(test.source, "a", "b", "c")
		cfg.Stdin, cfg.Dest = bytes.NewReader(content), test.dest
		r, err := g.cast(cfg)
		must(t, err)
		for i := range r.Hosts {
			checkFailed(t, &r.Hosts[i], test.want)
			if got := r.Hosts[i].Error; got != r.Hosts[0].Error || strings.Contains(got, "to-a") {
				t.Errorf("-o %s: %q and %q", test.dest, r.Hosts[0].Error, got)
			}
		}
	}
}

// TestNotADirectory fails on a host on which the way to the destination is a file.
func TestNotADirectory(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "good", "bad")
	path, content := randomFile(t, "src", 70_000)
	must(t, os.WriteFile(g.home("bad", "dir"), nil, 0o600))
	cfg := g.config(path, "good", "bad")
	cfg.Dest = "dir/x"
	r, err := g.cast(cfg)
	must(t, err)
	g.checkFile(content, g.home("good", "dir", "x"))
	checkFailed(t, &r.Hosts[1], "dir")
	for _, source := range []string{path, "-"} {
		cfg := g.config(source, "bad")
		cfg.Dest, cfg.Stdin = "dir/x", bytes.NewReader(content)
		r, err := g.cast(cfg)
		must(t, err)
		checkFailed(t, &r.Hosts[0], "dir")
	}
}

// TestUnreachable casts to a host that there is and one that there is not.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "good")
	path, content := randomFile(t, "src", 70_000)
	r, err := g.cast(g.config(path, "gone", "good"))
	must(t, err)
	checkFailed(t, &r.Hosts[0], "name or service not known")
	g.checkFile(content, g.home("good", "src"))
}

// TestNoSource checks that a cast without a source fails before any login.
func TestNoSource(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a")
	for _, exec := range []string{"", "cat"} {
		cfg := g.config(filepath.Join(g.root, "nothing"), "a")
		cfg.Exec = exec
		if _, err := Run(t.Context(), cfg); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	}
	g.checkClean()
}

// TestChangedSource checks that a cast of a file that changes fails.
func TestChangedSource(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until a piece was reported as bad")
	}
	t.Parallel()
	g := newGrid(t, "a", "b")
	path, _ := randomFile(t, "src", 8<<20)
	cfg := g.config(path, "a", "b")
	changed := make(chan struct{})
	var once sync.Once
	cfg.Event = func(e Event) {
		if e.Host != nil && e.Host.Phase == Fetching {
			once.Do(func() {
				must(t, os.WriteFile(path, make([]byte, 8<<20), 0o640))
				close(changed)
			})
		}
	}
	r, err := (&testCast{Config: cfg, Rate: heldRate, hold: changed}).run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "src was changed while it was cast") {
		t.Errorf("error %v", err)
	}
	g.awaitClean()
	for i := range r.Hosts {
		checkFailed(t, &r.Hosts[i], "was changed while it was cast")
		g.checkEmpty(g.home(r.Hosts[i].Name))
	}
	g.checkClean()
}

// TestInterrupted interrupts a cast.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	g := newGrid(t, "a", "b")
	path, _ := randomFile(t, "src", 20<<20)
	for _, source := range []string{path, "-"} {
		cfg := g.config(source, "a", "b")
		cfg.Dest = "out"
		r, w := io.Pipe()
		cfg.Stdin = r
		go func() { _, _ = w.Write(randomBytes(1 << 20)) }()
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		cfg.Event = func(e Event) {
			if e.Host != nil && e.Host.Bytes > 0 {
				cancel(why)
			}
		}
		res, err := (&testCast{Config: cfg, Rate: 4 << 20}).run(ctx)
		_ = r.Close()
		if !errors.Is(err, why) {
			t.Errorf("error %v", err)
		}
		g.awaitClean()
		for _, h := range res.Hosts {
			if h.Phase == Done {
				t.Errorf("%+v", h)
			}
			g.checkEmpty(g.home(h.Name))
		}
		g.checkClean()
	}
}

// TestClusters casts to two clusters: each byte crosses into each of them about once.
func TestClusters(t *testing.T) {
	t.Parallel()
	g := newGrid(t, hostNames(6)...)
	path, content := randomFile(t, "src", 8<<20)
	cfg := g.config(path, hostNames(6)...)
	for i := range cfg.Hosts {
		cfg.Hosts[i].Cluster = []string{"lyon", "source"}[i%2]
	}
	r := g.mustCast(cfg)
	wan := map[string]int64{}
	for _, h := range r.Hosts {
		wan[h.Cluster] += h.WAN
		g.checkFile(content, g.home(h.Name, "src"))
	}
	for cluster, n := range wan {
		if copies := float64(n) / float64(len(content)); copies < 1 || copies > 1.3 {
			t.Errorf("%.2f copies into %s", copies, cluster)
		}
	}
}
