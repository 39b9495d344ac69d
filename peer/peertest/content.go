package peertest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// RandomFile creates a file of size random bytes, which are the same in each test.
func RandomFile(t testing.TB, size int) (path string, content []byte) {
	t.Helper()
	content = make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content) // never fails
	path = filepath.Join(t.TempDir(), "content.bin")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, content
}

// Flip changes bytes of a file, and neither its size nor its time.
func Flip(path string, offsets ...int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	for _, at := range offsets {
		if _, err = f.ReadAt(b, at); err != nil {
			break
		}
		b[0] ^= 1
		if _, err = f.WriteAt(b, at); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// Seed seeds what is at path. The link is the test's to change.
func Seed(t testing.TB, n *peer.Node, path string, opt peer.SeedOptions) (*peer.Transfer, *proto.Link) {
	t.Helper()
	seed, err := n.Seed(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	link := *seed.Link()
	return seed, &link
}

// SeedRandom seeds a [RandomFile].
func SeedRandom(t testing.TB, n *peer.Node, size int, opt peer.SeedOptions) (
	seed *peer.Transfer, link *proto.Link, content []byte,
) {
	t.Helper()
	path, content := RandomFile(t, size)
	seed, link = Seed(t, n, path, opt)
	return seed, link, content
}

// Get starts a get to path.
func Get(t testing.TB, n *peer.Node, link *proto.Link, path string) *peer.Transfer {
	t.Helper()
	l := *link
	get, err := n.Get(&l, path, peer.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return get
}

// GetAll starts a get at each node, to a new directory.
func GetAll(t testing.TB, nodes []*peer.Node, link *proto.Link) (gets []*peer.Transfer) {
	t.Helper()
	for _, n := range nodes {
		gets = append(gets, Get(t, n, link, filepath.Join(t.TempDir(), "out")))
	}
	return gets
}

// WaitTimeout bounds every wait of a test. It only ends hangs: a busy machine may take long.
const WaitTimeout = 3 * time.Minute

// Wait waits until a get completes.
func Wait(t testing.TB, get *peer.Transfer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	if err := get.Wait(ctx); err != nil {
		t.Fatalf("%v; status %+v", err, get.Status())
	}
}

// WaitEqual waits until all gets complete, and compares the files.
func WaitEqual(t testing.TB, gets []*peer.Transfer, content []byte) {
	t.Helper()
	for _, g := range gets {
		Wait(t, g)
		st := g.Status()
		EqualFile(t, st.Root, content)
		t.Logf("%v: %+v, %d duplicate", st.Elapsed, st.Traffic, st.Duplicate)
	}
}

// EqualFile compares a file with some bytes.
func EqualFile(t testing.TB, path string, content []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatalf("%s differs from the source", path)
	}
}

// Eventually waits until a condition holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(WaitTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("timeout: ", what)
}
