package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A tap has frames as hosts leave them for the network card: TCP and UDP data of up to 64 KiB under
// one header, without checksums. The virtio header before each frame says so, and the tap to which
// it is written needs it.
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

// openTap makes an interface, still down, with the first of the offloads that the kernel has.
func openTap(end linkEnd, offloads []int) (tap, error) {
	fd := -1
	err := end.ns.do(func() (err error) {
		fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return fmt.Errorf("open /dev/net/tun: %w", err)
		}
		if err := setUpTap(fd, end, offloads); err != nil {
			return errors.Join(err, unix.Close(fd))
		}
		return nil
	})
	if err != nil {
		return -1, fmt.Errorf("make %s a tap: %w", end.name, err)
	}
	return tap(fd), nil
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

func (t tap) close() error { return unix.Close(int(t)) }

func setUpTap(fd int, end linkEnd, offloads []int) error {
	req, err := unix.NewIfreq(end.name)
	if err != nil {
		return fmt.Errorf("name an interface: %w", err)
	}
	req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		return fmt.Errorf("add an interface: %w", err)
	}
	for _, o := range offloads {
		if err = unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, o); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("set the offloads: %w", err)
	}
	tap, err := netlink.LinkByName(end.name)
	if err != nil {
		return fmt.Errorf("find the interface: %w", err)
	}
	if err := netlink.LinkSetMTU(tap, ethernetMTU); err != nil {
		return fmt.Errorf("set the MTU: %w", err)
	}
	if end.mac == nil {
		return nil
	}
	if err := netlink.LinkSetHardwareAddr(tap, end.mac); err != nil {
		return fmt.Errorf("set the hardware address: %w", err)
	}
	return nil
}
