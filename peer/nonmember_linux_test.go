//go:build !race

package peer_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// childVar makes this binary the node that TestNonMemberMemory floods.
const childVar = "MOB_PEER_CHILD"

// TestNonMemberMemoryChild seeds a file, prints its link, and serves it until its input ends.
func TestNonMemberMemoryChild(t *testing.T) {
	if os.Getenv(childVar) == "" {
		t.Skip("runs as the child of TestNonMemberMemory only")
	}
	n := peertest.Start(t, "A")
	path, _ := peertest.RandomFile(t, floodedSize)
	opt := peer.SeedOptions{}
	if os.Getenv(childVar) == manyPieces {
		if err := os.Truncate(path, sparseSize); err != nil {
			t.Fatal(err)
		}
		opt.PieceLength = proto.MinPieceLength
	}
	_, link := peertest.Seed(t, n, path, opt)
	link.Peers = peertest.LinkAddrs(t, n.Host())
	fmt.Println(link)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

const (
	floodedSize = 16 << 20
	// nonMembers is the number of identities that flood the node, each over one connection, and
	// floods the number of streams of each.
	nonMembers, floods = 20, 250
)

// Non-members open thousands of streams, and on each send the largest frame except its last
// byte. The node's memory grows by a small part of that, and it serves a member.
func TestNonMemberMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("floods a node for seconds")
	}
	link, child := startFlooded(t, "1")
	fetchOnce(t, link)
	before := rss(t, child)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range nonMembers {
		h := peertest.Stranger(t)
		wg.Go(func() { flood(ctx, h, link.Peers) })
	}
	most := 0
	for range 12 {
		time.Sleep(time.Second / 2)
		most = max(most, rss(t, child)-before)
		if most > 1<<30 {
			break
		}
	}
	fetchOnce(t, link)
	most = max(most, rss(t, child)-before)
	t.Logf("resident memory grew by %d MiB", most>>20)
	announced := nonMembers * floods / 2 * (proto.MaxFrame + proto.MaxOpening)
	if limit := announced / 16; most > limit {
		t.Errorf("non-members that announce %d MiB cost the node %d MiB, want at most %d", announced>>20, most>>20, limit>>20)
	}
}

// flood opens streams to a node and never ends the first frame on any.
func flood(ctx context.Context, h libhost.Host, addrs []ma.Multiaddr) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil || h.Connect(ctx, infos[0]) != nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range floods {
		id := []protocol.ID{proto.ControlProtocol, proto.BulkProtocol, proto.ManifestProtocol}[i%3]
		s, err := h.NewStream(ctx, infos[0].ID, id)
		if err != nil {
			return
		}
		size := []int{proto.MaxFrame, proto.MaxOpening}[i%2] // non-members may send the second
		frame := make([]byte, 4+size-1)
		binary.BigEndian.PutUint32(frame, uint32(size))
		frame[4] = byte(proto.TypeOf(&proto.Hello{}))
		wg.Go(func() {
			defer s.Reset()
			if _, err := s.Write(frame); err == nil {
				<-ctx.Done()
			}
		})
		context.AfterFunc(ctx, func() { _ = s.Reset() })
	}
}

// fetchOnce fetches the content with a new node.
func fetchOnce(t *testing.T, link *proto.Link) {
	t.Helper()
	peertest.Wait(t, peertest.Get(t, peertest.Start(t, "B"), link, filepath.Join(t.TempDir(), "out")))
}

// startFlooded starts a node in a separate process, which seeds content: manyPieces for many pieces.
func startFlooded(t *testing.T, content string) (link *proto.Link, pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestNonMemberMemoryChild$", "-test.v")
	cmd.Env = append(os.Environ(), childVar+"="+content)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if link, err := proto.ParseLink(lines.Text()); err == nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return link, cmd.Process.Pid
		}
	}
	t.Fatal("the child printed no link")
	return nil, 0
}

// rss returns the resident memory of a process, in bytes.
func rss(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
