package operations

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mobgrid/mob/collective"
	"github.com/mobgrid/mob/interop/workers"
)

// Member is a process that takes part in operations.
type Member struct {
	System, Data, Cluster, IP string
	Rank, Size                int
	Addrs                     []string // of the members with lower ranks
}

// caller prepares the values of an operation, and returns a function that calls it and returns when this member has its result.
type caller interface {
	prepare(o Operation) func(context.Context) error
}

// sumFloat32 adds vectors of float32.
func sumFloat32(dst, src []byte) ([]byte, error) {
	for d := dst; len(d) >= 4 && len(src) >= 4; d, src = d[4:], src[4:] {
		a := math.Float32frombits(binary.LittleEndian.Uint32(d)) + math.Float32frombits(binary.LittleEndian.Uint32(src))
		binary.LittleEndian.PutUint32(d, math.Float32bits(a))
	}
	return dst, nil
}

func concatenate(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

// Run prints an address, and an empty list when all members are connected. Then it calls the operations of standard input.
func (m *Member) Run(ctx context.Context) error {
	join := m.joinTCP
	if m.System == "mob" {
		join = m.joinMob
	}
	c, stop, err := join(ctx)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println("[]")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var o Operation
		merge := 0
		if _, err := fmt.Sscan(lines.Text(), &o.Op, &o.Bytes, &merge, &o.Repeats); err != nil {
			return err
		}
		o.Merge = merge > 0
		var took []float64
		for range o.Repeats {
			call := c.prepare(o)
			if err := c.prepare(Operation{Op: "allreduce"})(ctx); err != nil { // all start together
				return err
			}
			start := time.Now()
			if err := call(ctx); err != nil {
				return err
			}
			took = append(took, time.Since(start).Seconds())
		}
		b, err := json.Marshal(took)
		if err != nil {
			return err
		}
		fmt.Println(string(b))
	}
	return nil
}

// mobCaller is a member of mob. The root is rank 0.
type mobCaller struct{ *collective.Comm }

// value returns n random bytes: content of zeros would not be sent.
func (c mobCaller) value(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(c.Rank())}).Read(b) // never fails
	return b
}

func (m *Member) joinMob(ctx context.Context) (caller, func(), error) {
	node := workers.Node{Data: m.Data, Cluster: m.Cluster, IP: m.IP}
	if m.Rank > 0 {
		node.Tracker = m.Addrs[0]
	}
	n, stop, err := node.Start()
	if err != nil {
		return nil, nil, err
	}
	fmt.Println(n.Addrs()[0])
	c, err := collective.Join(ctx, n, "grid", m.Size)
	if err == nil {
		err = c.SetLinks(ctx, workers.LinkRate)
	}
	if err != nil {
		return nil, nil, err
	}
	return mobCaller{c}, func() {
		c.Close()
		stop()
	}, nil
}

func (c mobCaller) prepare(o Operation) func(context.Context) error {
	sum := collective.Op{Elem: 4, Merge: sumFloat32}
	if o.Op == "shuffle" {
		op := collective.Op{Merge: concatenate}
		if o.Merge {
			op.Merge = sumFloat32
		}
		to := make([][]byte, c.Size())
		for i := range to {
			to[i] = c.value(o.Bytes)
		}
		return func(ctx context.Context) (err error) {
			_, err = c.Shuffle(ctx, to, op)
			return err
		}
	}
	value := c.value(o.Bytes)
	return func(ctx context.Context) (err error) {
		switch o.Op {
		case "allreduce":
			_, err = c.AllReduce(ctx, value, sum)
		case "reduce":
			_, err = c.Reduce(ctx, 0, value, sum)
		case "gather":
			_, err = c.Gather(ctx, 0, value)
		}
		return err
	}
}

// tcpCaller has a connection to every member, and sends values as they are: to the root, which returns the result, or in a shuffle to
// their receivers.
type tcpCaller struct {
	rank  int
	conns []net.Conn // by rank, nil for the own one
}

func (m *Member) joinTCP(context.Context) (caller, func(), error) {
	l, err := net.Listen("tcp", m.IP+":4001")
	if err != nil {
		return nil, nil, err
	}
	fmt.Println(l.Addr())
	c := &tcpCaller{rank: m.Rank, conns: make([]net.Conn, m.Size)}
	for i, addr := range m.Addrs {
		if c.conns[i], err = net.Dial("tcp", addr); err != nil {
			return nil, nil, err
		}
		if _, err := c.conns[i].Write([]byte{byte(m.Rank)}); err != nil {
			return nil, nil, err
		}
	}
	for range m.Size - m.Rank - 1 {
		conn, err := l.Accept()
		if err != nil {
			return nil, nil, err
		}
		rank := make([]byte, 1)
		if _, err := io.ReadFull(conn, rank); err != nil {
			return nil, nil, err
		}
		c.conns[rank[0]] = conn
	}
	return c, func() { _ = l.Close() }, nil
}

func (c *tcpCaller) prepare(o Operation) func(context.Context) error {
	value := make([]byte, max(o.Bytes, 1)) // a barrier needs a byte
	return func(context.Context) error { return c.call(o, value) }
}

func (c *tcpCaller) call(o Operation, value []byte) error {
	switch {
	case o.Op == "shuffle":
		return c.exchange(value, true, true)
	case c.rank > 0:
		if _, err := c.conns[0].Write(value); err != nil || o.Op != "allreduce" {
			return err
		}
		_, err := io.ReadFull(c.conns[0], value)
		return err
	}
	if err := c.exchange(value, false, true); err != nil || o.Op != "allreduce" {
		return err
	}
	return c.exchange(value, true, false)
}

// exchange sends a value to all other members, and receives one of each.
func (c *tcpCaller) exchange(value []byte, send, receive bool) error {
	var all sync.WaitGroup
	errs := make(chan error, 2*len(c.conns))
	got := make([][]byte, len(c.conns))
	for i, conn := range c.conns {
		if conn == nil {
			continue
		}
		if send {
			all.Go(func() {
				_, err := conn.Write(value)
				errs <- err
			})
		}
		if receive {
			got[i] = make([]byte, len(value))
			all.Go(func() {
				_, err := io.ReadFull(conn, got[i])
				errs <- err
			})
		}
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	sum := make([]byte, len(value))
	for _, b := range got {
		_, _ = sumFloat32(sum, b) // never fails
	}
	return nil
}
