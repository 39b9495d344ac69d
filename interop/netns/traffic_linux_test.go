package netns

import (
	"errors"
	"io"
	"math"
	"net"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// connection is a TCP connection between two nodes, with both ends in the test.
type connection struct {
	client, server *net.TCPConn
}

func (c connection) close() {
	c.client.Close()
	c.server.Close()
}

// open connects two nodes. The connection ends with the test at the latest.
func open(t testing.TB, from, to *Node) connection {
	t.Helper()
	var listener net.Listener
	err := to.Do(func() (err error) {
		listener, err = net.Listen("tcp4", to.IP.String()+":0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var client, server net.Conn
	err = from.Do(func() (err error) {
		client, err = net.DialTimeout("tcp4", listener.Addr().String(), 5*time.Second)
		return err
	})
	if err != nil {
		t.Fatalf("from %s%d to %s%d: %v", from.Cluster, from.Index, to.Cluster, to.Index, err)
	}
	t.Cleanup(func() { client.Close() })
	server, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return connection{client.(*net.TCPConn), server.(*net.TCPConn)}
}

// flood sends as fast as possible until the test ends. Tests that flood take seconds, for TCP to
// settle and for a measurement, so they are skipped in short mode.
func flood(t testing.TB, from, to *Node) connection {
	t.Helper()
	if testing.Short() {
		t.Skip("measures rates for seconds: not with -short")
	}
	c := open(t, from, to)
	go func() { _, _ = io.Copy(io.Discard, c.server) }()
	go func() {
		zeros := make([]byte, 256<<10)
		for {
			if _, err := c.client.Write(zeros); err != nil {
				return
			}
		}
	}()
	return c
}

// tcpInfo returns the kernel's state of a connection.
func tcpInfo(t testing.TB, c *net.TCPConn) *unix.TCPInfo {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var info *unix.TCPInfo
	var failed error
	err = raw.Control(func(fd uintptr) { info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return info
}

// transfer sends size bytes and returns when they have arrived. sent includes bytes that TCP sent
// again, as on a busy machine.
func transfer(t testing.TB, from, to *Node, size int64) (sent int64) {
	t.Helper()
	c := open(t, from, to)
	go func() {
		_, _ = c.client.Write(make([]byte, size))
		_ = c.client.CloseWrite()
	}()
	if n, err := io.Copy(io.Discard, c.server); n != size || err != nil {
		t.Fatalf("%d bytes of %d arrived: %v", n, size, err)
	}
	return size + int64(tcpInfo(t, c.client).Bytes_retrans)
}

// growth measures the growth of a counter of each cluster, in bytes per second. It reads a counter again if that took long,
// since the time of the reading is not known then.
func growth(t testing.TB, counter func(string) (uint64, error), d time.Duration, clusters ...string) []float64 {
	t.Helper()
	read := func() (bytes, seconds []float64) {
		for _, c := range clusters {
			var n uint64
			var start time.Time
			took := d
			for tries := 0; took > d/100 && tries < 20; tries++ {
				start = time.Now()
				var err error
				if n, err = counter(c); err != nil {
					t.Fatal(err)
				}
				took = time.Since(start)
			}
			bytes = append(bytes, float64(n))
			seconds = append(seconds, float64(start.Add(took/2).UnixNano())/1e9)
		}
		return bytes, seconds
	}
	bytes, since := read()
	time.Sleep(d)
	rates, now := read()
	for i := range rates {
		rates[i] = (rates[i] - bytes[i]) / (now[i] - since[i])
	}
	return rates
}

// arriving counts the bytes that have arrived at an interface of the node with this index in a
// cluster.
func arriving(g *Grid, node int, name string) func(cluster string) (uint64, error) {
	return func(cluster string) (bytes uint64, err error) {
		err = g.Node(cluster, node).Do(func() error {
			eth, err := netlink.LinkByName(name)
			if err == nil {
				bytes = eth.Attrs().Statistics.RxBytes
			}
			return err
		})
		return bytes, err
	}
}

// within compares a measured value with the one that is wanted.
func within(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	t.Logf("%s: %.4g, want %.4g (%+.1f %%)", what, got, want, 100*(got/want-1))
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s: %.4g, want %.4g", what, got, want)
	}
}
