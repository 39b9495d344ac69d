package netns

import (
	"encoding/binary"
	"fmt"
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
	// leastBuffer is the least length of a queue: two of the largest frames of hosts, 64 KiB each.
	leastBuffer = 128 << 10
)

// The handles of a shaper's parts on each interface: 1: and 1:1 in the notation of tc.
const (
	shaperHandle = 1 << 16
	classHandle  = 1<<16 | 1
)

// queueLength is the length of a queue, as time at the rate of its link.
type queueLength time.Duration

func (q queueLength) bytes(r Rate) uint32 {
	return uint32(min(max(r.in(time.Duration(q)), leastBuffer), 1<<31))
}

// shape limits what leaves through an interface in the calling thread's namespace: an HTB class
// with the rate, and in it a queue that drops at its tail. HTB lets a class go into debt by a
// frame, so the rate holds with frames of any size.
func shape(link int, r Rate, buffer queueLength) error {
	root := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: link, Handle: shaperHandle, Parent: netlink.HANDLE_ROOT})
	root.Defcls = 1
	if err := netlink.QdiscAdd(root); err != nil {
		return fmt.Errorf("add an HTB shaper: %w", err)
	}
	if err := netlink.ClassAdd(class(link, r)); err != nil {
		return fmt.Errorf("add an HTB class: %w", err)
	}
	if err := addFIFO(link, buffer.bytes(r)); err != nil {
		return fmt.Errorf("add a queue: %w", err)
	}
	return nil
}

// reshape changes the rate of a shaped interface. What is queued stays.
func reshape(link int, r Rate) error {
	if err := netlink.ClassChange(class(link, r)); err != nil {
		return fmt.Errorf("change an HTB class: %w", err)
	}
	return nil
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
