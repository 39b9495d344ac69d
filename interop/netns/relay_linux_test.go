package netns

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestRTTBetweenClusters(t *testing.T) {
	t.Parallel()
	const rtt = 60 * time.Millisecond
	g := newGrid(t, Config{Clusters: Clusters(2, 1, 1), Links: Uniform(6*MBps, "A", "B", "C"), RTT: rtt})
	for _, c := range []connection{open(t, g.Node("A", 0), g.Node("B", 0)), open(t, g.Node("C", 0), g.Node("A", 1))} {
		if took := roundTrip(t, c, rtt*3/2); took < rtt || took > rtt*3/2 {
			t.Errorf("%v over the WAN, want %v", took, rtt)
		} else {
			t.Logf("%v over the WAN", took)
		}
	}
	if took := roundTrip(t, open(t, g.Node("A", 0), g.Node("A", 1)), rtt/6); took > rtt/6 {
		t.Errorf("%v within a cluster", took)
	}
}

// roundTrip is the least time of five echoes. On a busy machine it takes more echoes, for a minute or until one takes at most
// the limit.
func roundTrip(t *testing.T, c connection, limit time.Duration) time.Duration {
	t.Helper()
	go func() { _, _ = io.Copy(c.server, c.server) }()
	var times []time.Duration
	for end := time.Now().Add(time.Minute); len(times) < 5 || slices.Min(times) > limit && time.Now().Before(end); {
		start := time.Now()
		if _, err := c.client.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c.client, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	return slices.Min(times)
}

// A relay carries as many segments as a veth pair beside it. (Bytes would differ: with an RTT, TCP
// sends smaller frames, and each has headers.)
func TestRTTLeavesRatesAsTheyAre(t *testing.T) {
	t.Parallel()
	const frame = 1514 // bytes of a full segment on a link
	links := Uniform(6*MBps, "A", "B")
	near := newGrid(t, Config{Clusters: Clusters(1, 1), Links: links})
	far := newGrid(t, Config{Clusters: Clusters(1, 1), Links: links, RTT: 40 * time.Millisecond})
	flows := map[string]connection{
		"near": flood(t, near.Node("A", 0), near.Node("B", 0)),
		"far":  flood(t, far.Node("A", 0), far.Node("B", 0)),
	}
	// Data segments, in order or not, as frames or as parts of large ones.
	count := func(which string) (uint64, error) { return uint64(tcpInfo(t, flows[which].server).Data_segs_in), nil }
	time.Sleep(2 * settle)
	rates := growth(t, count, 2*time.Second, "near", "far")
	within(t, "with and without RTT", rates[1]/rates[0], 1, 0.04)
	within(t, "share of 6 MB/s", frame*rates[1]/float64(6*MBps), 1, 0.04)
	if err := far.SetRate("A", "B", 2*MBps); err != nil {
		t.Fatal(err)
	}
	time.Sleep(settle)
	after := growth(t, count, time.Second, "far")[0]
	within(t, "after SetRate and before", after/rates[1], 1./3, 0.06)
}

// Datagrams that a host leaves to be segmented (as QUIC does) arrive whole, each with its checksum.
func TestRTTKeepsDatagrams(t *testing.T) {
	t.Parallel()
	const size, count = 1200, 40
	g := newGrid(t, Config{Clusters: Clusters(1, 1), Links: Uniform(20*MBps, "A", "B"), RTT: 10 * time.Millisecond})
	from, to := listenUDP(t, g.Node("A", 0)), listenUDP(t, g.Node("B", 0))
	raw, err := from.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var segment error
	if err := raw.Control(func(fd uintptr) {
		segment = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT, size)
	}); err != nil || segment != nil {
		t.Skip("no UDP segmentation", err, segment)
	}
	sent := make([]byte, size*count)
	for i := range sent {
		sent[i] = byte(i / size)
	}
	arrived := map[byte]bool{}
	all := eventually(func() bool { // some may be lost on a busy machine
		if _, err := from.WriteTo(sent, to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		_ = to.SetReadDeadline(time.Now().Add(2 * time.Second))
		for b := make([]byte, 2*size); len(arrived) < count; {
			n, _, err := to.ReadFrom(b)
			if err != nil {
				return false
			}
			if n != size || b[0] >= count || b[n-1] != b[0] {
				t.Fatalf("a datagram of %d bytes, from number %d to %d", n, b[0], b[n-1])
			}
			arrived[b[0]] = true
		}
		return true
	})
	if !all {
		t.Errorf("%d of %d datagrams arrived", len(arrived), count)
	}
}

func listenUDP(t *testing.T, n *Node) *net.UDPConn {
	t.Helper()
	var c net.PacketConn
	err := n.Do(func() (err error) {
		c, err = net.ListenPacket("udp4", n.IP.String()+":0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.UDPConn)
}

func TestRTTCountsBytes(t *testing.T) {
	t.Parallel()
	const size = 4e6
	g := newGrid(t, Config{Clusters: []Cluster{{Name: "A", Nodes: 1, WANNIC: 50 * MBps}, {Name: "B", Nodes: 1}},
		Links: Uniform(40*MBps, "A", "B"), RTT: 20 * time.Millisecond})
	transfer(t, g.Node("A", 0), g.Node("B", 0), size)
	all, err := g.LinkBytes()
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	within(t, "copies over the relay", float64(all[0].Bytes)/size, 1, 0.02)
}

// A grid with traffic in its relay closes immediately and leaves nothing running.
func TestRTTGridCloses(t *testing.T) {
	const rtt = time.Minute
	g := newGrid(t, Config{Clusters: Clusters(1, 1, 1, 1), Links: Fast(), RTT: rtt})
	c := listenUDP(t, g.Node("A", 0))
	if _, err := c.WriteTo([]byte("late"), &net.UDPAddr{IP: g.Node("B", 0).IP.AsSlice(), Port: 9}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > rtt/2 {
		t.Errorf("Close took %v, as long as what was in flight", took)
	}
	if _, err := g.LinkBytes(); !errors.Is(err, ErrClosed) {
		t.Errorf("LinkBytes: %v", err)
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if strings.Contains(string(stacks), "(*relay)") {
		t.Errorf("still running:\n%s", stacks)
	}
}

// BenchmarkWAN measures what a relay costs compared with veth pairs, the hosts at both ends
// included: one link of 6 MB/s, and the standard grid with all links full both ways, 48 MB/s. It
// reports CPU seconds of the program per GB over links, and the share of the rate that was used.
// Run it with -benchtime 1x.
func BenchmarkWAN(b *testing.B) {
	for name, links := range map[string]Links{"one": Uniform(6*MBps, "A", "B"), "grid": Fast()} {
		for _, rtt := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond} {
			b.Run(fmt.Sprintf("%s/rtt=%v", name, rtt), func(b *testing.B) { benchmarkWAN(b, links, rtt) })
		}
	}
}

func benchmarkWAN(b *testing.B, links Links, rtt time.Duration) {
	c := Config{Clusters: clustersOf(links), Links: links, RTT: rtt}
	g := newGrid(b, c)
	var sum Rate
	for _, p := range links.pairs() {
		flood(b, g.Node(p.a, 0), g.Node(p.b, 0))
		sum += links.rates[p]
		if len(c.Clusters) > 2 {
			flood(b, g.Node(p.b, 0), g.Node(p.a, 0))
			sum += links.rates[p]
		}
	}
	time.Sleep(4 * settle)
	const span = 3 * time.Second
	cpu := cpuTime(b)
	all := func(string) (n uint64, err error) {
		links, err := g.LinkBytes()
		for _, l := range links {
			n += l.Bytes
		}
		return n, err
	}
	used := growth(b, all, span, "all")[0]
	b.ReportMetric((cpuTime(b)-cpu).Seconds()/(used*span.Seconds()/1e9), "cpu-s/GB")
	b.ReportMetric(used/float64(sum), "of-rate")
	b.ReportMetric(0, "ns/op")
}

// cpuTime is the user and system time of the program.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The share of packets that arrive is the same for datagrams and for TCP, whose hosts leave many
// segments to the network card as one, and in both directions.
func TestLoss(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("sends tens of thousands of packets: not with -short")
	}
	const loss = 0.05
	g := newGrid(t, Config{Clusters: Clusters(1, 1), Links: Uniform(20*MBps, "A", "B"), Loss: loss, Congestion: "bbr"})
	a, b := g.Node("A", 0), g.Node("B", 0)
	for _, d := range [][2]*Node{{a, b}, {b, a}} {
		c := open(t, d[0], d[1])
		go func() {
			_, _ = c.client.Write(make([]byte, 12e6))
			_ = c.client.CloseWrite()
		}()
		if _, err := io.Copy(io.Discard, c.server); err != nil {
			t.Fatal(err)
		}
		sent := tcpInfo(t, c.client).Data_segs_out
		within(t, "share of segments lost from "+d[0].Cluster, 1-float64(tcpInfo(t, c.server).Data_segs_in)/float64(sent), loss, 0.2)
	}
	within(t, "share of datagrams lost", lostDatagrams(t, a, b, 20000), loss, 0.15)
}

// lostDatagrams sends small datagrams, and returns the share that did not arrive. It waits for each
// batch, so that no queue on the way overflows when the machine is busy.
func lostDatagrams(t *testing.T, a, b *Node, count int) float64 {
	t.Helper()
	const batch = 50
	from, to := listenUDP(t, a), listenUDP(t, b)
	send := func(text string) {
		if _, err := from.WriteTo([]byte(text), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	type report struct {
		end string
		n   int // datagrams before it
	}
	reports := make(chan report)
	go func() {
		for n, p := 0, make([]byte, 64); ; {
			size, _, err := to.ReadFrom(p)
			if err != nil {
				return // the test has ended
			}
			if text := string(p[:size]); text != "datagram" {
				select {
				case reports <- report{text, n}:
				case <-t.Context().Done():
				}
			} else {
				n++
			}
		}
	}()
	last := report{}
	for i := range count / batch {
		for range batch {
			send("datagram")
		}
		for end := fmt.Sprint("end of batch ", i); last.end != end; {
			send(end) // again if it was lost
			select {
			case last = <-reports:
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return 1 - float64(last.n)/float64(count)
}
