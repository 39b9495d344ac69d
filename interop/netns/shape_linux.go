package netns

import (
	"encoding/binary"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

const (
	// burst is the time of unused rate that a link may make up for. It has to cover late timers on
	// a busy machine, or rate is lost; a longer one would exceed the rate after each pause.
	burst = 20 * time.Millisecond
	// tick is the unit of bursts in the kernel's interface.
	tick = 64 * time.Nanosecond
	// quantum matters between classes of a link, and there is one; the kernel warns about its own
	// default.
	quantum = 1 << 17
	// buffer is the length of a queue, as time at the first rate of its link. The queue keeps its length in
	// bytes when the rate changes, as a router's does. Longer queues mean less loss and more delay.
	buffer = 250 * time.Millisecond
	// leastBuffer is the least length of a queue: two of the largest frames of hosts, 64 KiB each.
	leastBuffer = 128 << 10
)

// The handles of a shaper's parts on each interface: 1: and 1:1 in the notation of tc.
const (
	shaperHandle = 1 << 16
	classHandle  = 1<<16 | 1
)

// shape limits the rate that leaves through an interface: an HTB class with the rate, and in it a queue
// that drops at its tail. HTB lets a class go into debt by a frame, so the rate holds with frames of any
// size. A rate of zero means no limit.
func (b *builder) shape(name string, r Rate) {
	if r == 0 {
		return
	}
	b.with("shape", name, func(l netlink.Link) error {
		link := l.Attrs().Index
		root := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: link, Handle: shaperHandle, Parent: netlink.HANDLE_ROOT})
		root.Defcls = 1
		if err := netlink.QdiscAdd(root); err != nil {
			return err
		}
		if err := netlink.ClassAdd(class(link, r)); err != nil {
			return err
		}
		return addFIFO(link, uint32(min(max(r.in(buffer), leastBuffer), 1<<31)))
	})
}

// reshape changes the rate of a shaped interface. Queued frames stay.
func (b *builder) reshape(name string, r Rate) {
	b.with("reshape", name, func(l netlink.Link) error { return netlink.ClassChange(class(l.Attrs().Index, r)) })
}

func class(link int, r Rate) *netlink.HtbClass {
	return &netlink.HtbClass{
		ClassAttrs: netlink.ClassAttrs{LinkIndex: link, Handle: classHandle, Parent: shaperHandle},
		Rate:       uint64(r),
		Ceil:       uint64(r),
		Buffer:     uint32(burst / tick),
		Cbuffer:    uint32(burst / tick),
		Quantum:    quantum,
	}
}

// addFIFO adds a queue with a limit in bytes to the class. The netlink library has no type for it;
// the message is a bare tc_fifo_qopt. (The kernel's default of a thousand frames would be tens of
// seconds with frames of 64 KiB.)
func addFIFO(link int, bytes uint32) error {
	req := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	req.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(link), Parent: classHandle})
	req.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("bfifo")))
	req.AddData(nl.NewRtAttr(nl.TCA_OPTIONS, binary.NativeEndian.AppendUint32(nil, bytes)))
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
