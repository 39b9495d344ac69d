package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// start starts the node.
func (m *model) start() {
	m.disk = &mortal{FS: vfs.OS{}}
	var err error
	m.node, err = peer.Start(peer.Config{Data: m.data, Cluster: "B", Log: slog.New(slog.DiscardHandler)}, peer.WithFiles(m.disk),
		peer.WithStore(func(st store.Store) store.Store { return publishing{st, m.atEnd} }))
	check(m, err)
}

// atEnd runs what is to happen as a get ends.
func (m *model) atEnd() {
	if f := m.published.Swap(nil); f != nil {
		(*f)()
	}
}

// call runs a call, which must return in a bounded time. Its error must name a path.
func (m *model) call(what string, f func() error) error {
	m.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		m.note("%s: %v", what, err)
		if err != nil && !m.namesEntry(err) {
			m.Errorf("%s fails and names no file: %v", what, err)
		}
		return err
	case <-time.After(modelBound):
		for _, t := range m.node.Transfers() {
			m.Logf("%+v", t.Status())
		}
		b := make([]byte, 1<<20)
		m.Logf("%s", b[:runtime.Stack(b, true)])
		m.Fatalf("%s does not return", what)
	}
	return nil
}

// busy reports whether a transfer has not settled.
func (m *model) busy() bool {
	return m.node != nil && slices.ContainsFunc(m.node.Transfers(), func(t *peer.Transfer) bool {
		phase := t.Status().Phase
		return phase == peer.Seeking || phase == peer.Checking || phase == peer.Fetching
	})
}

// mayRepair records that the node may repair from now on.
func (m *model) mayRepair() {
	for _, o := range m.mine {
		o.repairable = o.changed
	}
}

var errWaits = errors.New("the transfer waits")

// wait waits for a transfer, until it reports the same reason for waiting a number of times.
func wait(ctx context.Context, t *peer.Transfer) error {
	for since := time.Now(); ; {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		err := t.Wait(short)
		ended := short.Err() == nil
		cancel()
		if ended || ctx.Err() != nil {
			return err
		}
		switch st := t.Status(); {
		case st.Waiting == "" || st.Phase == peer.Fetching:
			since = time.Now()
		case time.Since(since) > 500*time.Millisecond:
			return fmt.Errorf("%w for %s", errWaits, st.Waiting)
		}
	}
}

// get gets the content. If that succeeds, it is complete.
func (m *model) get(root string, opt peer.GetOptions) {
	m.getWith(root, opt, true)
}

func (m *model) getWith(root string, opt peer.GetOptions, strict bool) {
	m.Helper()
	m.mayRepair()
	var t *peer.Transfer
	err := m.call("get "+filepath.Base(root), func() (err error) {
		link := *m.link
		if t, err = m.node.Get(&link, root, opt); err != nil {
			return err
		}
		return wait(m.Context(), t)
	})
	if errors.Is(err, errWaits) {
		check(m, t.Stop())
	}
	if err != nil || !strict {
		return
	}
	if d := m.differs(t); d != "" {
		m.Errorf("a get succeeds: %s", d)
	}
	if m.rng.IntN(3) == 0 { // otherwise the next step may come before the disk is flushed
		_ = m.call("flush", func() error { return t.Flush(m.Context()) })
	}
}

// reuse is get with --reuse, to a path.
func (m *model) reuse(root string) {
	for path, o := range m.mine {
		if rest, ok := strings.CutPrefix(path, root); ok && (rest == "" || rest[0] == '/') {
			o.reused = true
		}
	}
	if see(root).mode.Type() != fs.ModeSymlink {
		m.get(root, peer.GetOptions{Reuse: true})
	}
}

// getDuringChange changes something while the content is fetched.
func (m *model) getDuringChange() {
	done := make(chan struct{})
	m.disk.after(m.rng.IntN(30), func() {
		m.change(filepath.Join(m.out, m.names[m.rng.IntN(len(m.names))]), keepBytes[m.rng.IntN(len(keepBytes))])
		m.mayRepair()
		close(done)
	})
	m.getWith(m.out, peer.GetOptions{}, false)
	if !m.disk.never() {
		<-done
	}
}

// getAtEnd changes something as a get ends, and gets the link again.
func (m *model) getAtEnd() {
	m.mayRepair()
	second := make(chan struct{})
	f := func() {
		path := filepath.Join(m.out, m.names[m.rng.IntN(len(m.names))])
		m.change(path, []int{4, 6, 7, 9, 11}[m.rng.IntN(5)])
		got := make(chan struct{})
		go func() {
			defer close(second)
			close(got)
			m.get(m.out, peer.GetOptions{})
		}()
		<-got
		time.Sleep(time.Duration(m.rng.IntN(20)) * time.Millisecond) // it may wait for the end of this one
	}
	m.published.Store(&f)
	m.getWith(m.out, peer.GetOptions{}, false)
	if m.published.Swap(nil) == nil {
		<-second
	}
}

// getKilled kills the node while it fetches.
func (m *model) getKilled() {
	m.disk.after(m.rng.IntN(40), m.disk.kill)
	m.mayRepair()
	link := *m.link
	if t, err := m.node.Get(&link, m.out, peer.GetOptions{}); err == nil {
		_ = wait(m.Context(), t)
	}
	m.disk.never()
	m.restart(true)
}

// restart starts the node again, with or without a kill, and waits until its transfers settle.
func (m *model) restart(kill bool) {
	m.mayRepair()
	if kill {
		m.disk.kill()
		data := m.TempDir()
		check(m, filepath.WalkDir(m.data, func(path string, d fs.DirEntry, err error) error {
			to := filepath.Join(data, strings.TrimPrefix(path, m.data))
			if err == nil && d.IsDir() {
				err = os.MkdirAll(to, 0o700)
			} else if err == nil {
				var b []byte
				if b, err = os.ReadFile(path); err == nil {
					err = os.WriteFile(to, b, 0o600)
				}
			}
			if errors.Is(err, fs.ErrNotExist) { // it was temporary
				return nil
			}
			return err
		}))
		m.data = data
		_ = m.node.Close()
		m.note("killed")
	} else {
		_ = m.call("close", m.node.Close)
	}
	m.start()
	_ = m.call("settle", func() error {
		for _, t := range m.node.Transfers() {
			_ = wait(m.Context(), t)
		}
		return nil
	})
}

// some returns a transfer, nil if there is none.
func (m *model) some() *peer.Transfer {
	all := m.node.Transfers()
	if len(all) == 0 {
		return nil
	}
	return all[m.rng.IntN(len(all))]
}

func (m *model) seed() {
	var t *peer.Transfer
	err := m.call("seed", func() (err error) {
		t, err = m.node.Seed(m.Context(), m.out, peer.SeedOptions{PieceLength: 16 << 10})
		return err
	})
	if err == nil {
		root, err := filepath.EvalSymlinks(t.Status().Root)
		check(m, err)
		m.own(root, false)
	}
}

func (m *model) remove(content bool) {
	if t := m.some(); t != nil {
		_ = m.call(fmt.Sprint("rm, content ", content), func() error {
			left, err := m.node.Remove(t, content)
			if len(left) > 0 {
				m.note("left %v", left)
			}
			return err
		})
	}
}

func (m *model) keep() {
	m.node.SetKeep(peer.Keep{For: time.Hour, Delete: true})
	_ = m.call("keep", func() error {
		peer.EndAll(m.node, time.Now().Add(24*time.Hour))
		return nil
	})
	m.node.SetKeep(peer.Keep{})
}

func (m *model) verify() {
	t := m.some()
	if t == nil {
		return
	}
	m.mayRepair()
	var v *peer.Verification
	err := m.call("verify", func() (err error) {
		v, err = t.Verify(m.Context(), nil)
		return err
	})
	if st := t.Status(); err == nil && v.Intact() && v.Checked == v.Pieces && st.Phase == peer.Whole {
		if d := m.differs(t); d != "" {
			m.Errorf("verify finds %s intact: %s", st.Root, d)
		}
	}
}

func (m *model) stop() {
	if t := m.some(); t != nil {
		_ = m.call("stop", t.Stop)
	}
}
