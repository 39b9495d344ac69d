package store_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// childVar makes this binary the process that TestKilled kills. It holds the state
// directory and the destination.
const childVar = "MOB_STORE_CHILD"

func killedContent(t *testing.T) storetest.Content {
	return storetest.Make(t, 9,
		storetest.File("a", 20*piece+1), storetest.File("b", 20*piece), storetest.File("c", 20*piece))
}

// TestKilledChild writes the missing pieces, and prints a line after each commit.
func TestKilledChild(t *testing.T) {
	dir, root, ok := strings.Cut(os.Getenv(childVar), ":")
	if !ok {
		t.Skip("runs as the child of TestKilled only")
	}
	p := &place{killedContent(t), t, dir, root, store.NewFiles(16)}
	d := p.open()
	d.FlushEvery(5 * piece)
	for i := range p.Manifest.Pieces() {
		if !d.Has(i) {
			p.put(d, i)
			d.WaitFlush() // or a slow disk may stamp no file
			fmt.Println("piece", i)
		}
	}
	fmt.Println(nothingLeft)
	select {} // until it is killed
}

// nothingLeft is the child's last line.
const nothingLeft = "nothing left"

// TestKilled kills a process again and again. No piece that was committed is lost, and those
// of finished files are not even unverified.
func TestKilled(t *testing.T) {
	p := newPlace(t, killedContent(t))
	p.ok(p.create().Close())
	committed := map[int]bool{}
	for _, lines := range []int{1, 7, 20} {
		p.killAfter(lines, committed)
		d := p.open()
		verified, unverified := p.has(d), d.Unverified()
		for i := range verified {
			if committed[i] && !verified[i] && !unverified[i] {
				t.Errorf("piece %d is lost", i)
			}
			if i < 20 && committed[27] && unverified[i] {
				t.Errorf("piece %d of a finished file is unverified", i)
			}
		}
		p.recheckAll(d, verified)
		p.recheck(d)
		for i := range verified {
			if committed[i] && !d.Has(i) {
				t.Errorf("piece %d is not good", i)
			}
			committed[i] = d.Has(i)
		}
		p.ok(d.Close())
	}
	d := p.open()
	for i := range p.Manifest.Pieces() {
		if !committed[i] {
			p.put(d, i)
		}
	}
	p.ok(d.Finish())
	p.Verify(t, p.root)
}

// killAfter runs a child and kills it once it has committed that many pieces, or all that
// were missing: on a busy machine, a child before it may commit many until it dies.
func (p *place) killAfter(lines int, committed map[int]bool) {
	p.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$", "-test.v")
	cmd.Env = append(os.Environ(), childVar+"="+p.dir+":"+p.root)
	out, err := cmd.StdoutPipe()
	p.ok(err)
	p.ok(cmd.Start())
	in := bufio.NewScanner(out)
	for lines > 0 && in.Scan() {
		if number, ok := strings.CutPrefix(in.Text(), "piece "); ok {
			i, err := strconv.Atoi(number)
			p.ok(err)
			committed[i] = true
			lines--
		}
		if in.Text() == nothingLeft {
			lines = 0
		}
	}
	p.ok(cmd.Process.Kill())
	_ = cmd.Wait() // reports that it was killed
	if lines > 0 {
		p.t.Fatal("the child exited")
	}
}

func TestOtherBoot(t *testing.T) {
	for _, boot := range [][16]byte{{1}, {}} {
		p := newPlace(t, tree(t))
		d := p.create()
		d.FlushEvery(2 * piece)
		p.put(d, 0, 2)
		d.WaitFlush()
		p.put(d, 1) // with piece 2 half a piece, this starts no flush
		p.ok(d.Close())
		d = p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, boot))
		p.want(d, "vdv--")
		p.ok(d.Close())
		// A unverified piece stays so until it is checked.
		d = p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, boot))
		p.want(d, "vdv--")
		p.recheck(d)
		p.want(d, "vvv--")
		p.put(d, 3, 4)
		p.ok(d.Finish())
		p.ok(d.Close())
		// All of a whole content is on the disk.
		p.want(p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, [16]byte{7})), "vvvvv")
		p.Verify(t, p.root)
	}
}

func TestFlushFails(t *testing.T) {
	p := newPlace(t, tree(t))
	d := p.create()
	d.FlushEvery(2 * piece)
	p.put(d, 0, 1)
	d.WaitFlush()
	p.put(d, 2)
	cause := errors.New("no")
	d.FailFlush(cause)
	p.want(d, "vvd--")
	if err := d.Commit(3); !errors.Is(err, cause) {
		t.Errorf("commit: %v", err)
	}
	if err := d.Finish(); !errors.Is(err, cause) {
		t.Errorf("finish: %v", err)
	}
	if err := d.Close(); !errors.Is(err, cause) {
		t.Errorf("close: %v", err)
	}
	d = p.open()
	p.want(d, "vvd--")
	p.recheck(d)
	p.put(d, 3, 4)
	p.ok(d.Finish())
	p.Verify(t, p.root)
}

// TestPowerLossAtStart cuts the power after each call of the first seconds of a transfer. Started again, it
// continues at the destination that it made, without taking over what another program made.
func TestPowerLossAtStart(t *testing.T) {
	contents := map[string]func(*disk){
		"directory": func(*disk) {},
		"file":      func(p *disk) { p.Content = storetest.Make(t, 7, storetest.File("", 3*proto.MinPieceLength)) },
		"empty":     func(p *disk) { p.Content = storetest.Make(t, 7, storetest.File("", 0)) },
	}
	for name, shape := range contents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			for at, done := 0, false; !done; at++ {
				for range 8 {
					p := faulty(t, kind{})
					shape(p)
					p.fs.SetPlan(&faultPlan{At: at, Times: 1, Err: syscall.EIO, Off: true})
					err := p.startOrCreate()
					done = err == nil
					if done {
						err = p.put(1)
					}
					_ = p.end()
					p.reboot(random)
					when := fmt.Sprintf("power loss at call %d (%v)", at, err)
					if err := p.startOrCreate(); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					p.ok(errors.Join(p.put(99), p.open.Publish(), p.open.Finish(), p.end()))
					if len(p.Manifest.Entries) > 1 {
						p.verify(when)
					} else if !bytes.Equal(p.readFile(faultRoot), p.Data) {
						t.Errorf("%s: the file differs", when)
					}
				}
			}
		})
	}
}

// startOrCreate opens the store as a node does that takes over no files.
func (p *disk) startOrCreate() (err error) {
	p.open, err = store.OpenAfterBoot(faultDir, faultRoot, p.Manifest, p.files, p.boot)
	if errors.Is(err, store.ErrNoJournal) || errors.Is(err, store.ErrGone) {
		p.open, err = store.Create(faultDir, faultRoot, p.Manifest, p.files)
	}
	if err != nil {
		p.open = nil
		return err
	}
	return store.Reaudit(p.t.Context(), p.open, store.NewVerifier(p.Manifest), p.open.Unverified(), nil)
}
