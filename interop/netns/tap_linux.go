package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A tap has frames as hosts leave them for the network card: TCP and UDP data of up to 64 KiB under
// one header, without checksums. The virtio header before each frame describes this; a tap
// requires it on writes.
const (
	tapOffloads    = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO_ECN
	tapOffloadsUDP = unix.TUN_F_USO4 | unix.TUN_F_USO6 // since Linux 6.2, and only together
)

// offloadChoices returns what a tap may leave to the network card, the best first. With packets each
// frame is a packet as on a wire.
func offloadChoices(packets bool) []int {
	if packets {
		return []int{unix.TUN_F_CSUM}
	}
	return []int{tapOffloads | tapOffloadsUDP, tapOffloads}
}

// tap is the file descriptor of an Ethernet interface. What the interface sends is read from it,
// what is written to it the interface receives, one frame with its virtio header at a time. Closing
// it removes the interface.
type tap int

// openTap makes an interface, still down, with the first of the offloads that the kernel has. It is -1
// after an error.
func (b *builder) openTap(end linkEnd) tap {
	fd := -1
	b.enter(end.ns)
	b.do("open /dev/net/tun", func() (err error) {
		fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return err
	})
	b.do("add "+end.name, func() error {
		req, err := unix.NewIfreq(end.name)
		if err != nil {
			return err
		}
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		return unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	})
	b.do("set the offloads of "+end.name, func() (err error) {
		for _, offloads := range offloadChoices(b.relay.loss > 0) { // one frame that is lost must not be many packets
			if err = unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, offloads); err == nil {
				break
			}
		}
		return err
	})
	b.with("set the MTU and address of", end.name, func(l netlink.Link) error {
		return errors.Join(netlink.LinkSetMTU(l, ethernetMTU), netlink.LinkSetHardwareAddr(l, end.mac))
	})
	return tap(fd)
}

// Read reads a frame. It returns errNoFrame instead of blocking.
func (t tap) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(t), b)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, unix.EAGAIN):
			return 0, errNoFrame
		case !errors.Is(err, unix.EINTR):
			return 0, fmt.Errorf("read a frame: %w", err)
		}
	}
}

// Write writes a frame.
func (t tap) Write(b []byte) (int, error) {
	for {
		n, err := unix.Write(int(t), b)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, fmt.Errorf("write a frame: %w", err)
		}
	}
}
