package netns

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A tap hands over frames as hosts left them for the network card: TCP and UDP data of up to 64 KiB under one header, checksums
// not filled in. The virtio header before each frame says so, and a tap that it is written to takes it from there.
const (
	tapOffloads    = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO_ECN
	tapOffloadsUDP = unix.TUN_F_USO4 | unix.TUN_F_USO6 // not before Linux 6.2, and only both together
)

// openTap makes an Ethernet interface, still down, of which this program is the other side: what the interface sends is read,
// what is written it receives, one frame with its virtio header at a time. The interface goes when the file is closed.
func openTap(end linkEnd) (*os.File, error) {
	var file *os.File
	err := end.ns.do(func() (err error) {
		file, err = newTap(end)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make %s a tap: %w", end.name, err)
	}
	return file, nil
}

// newTap is openTap in the namespace of the calling thread.
func newTap(end linkEnd) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	if err := setUpTap(fd, end); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	// Only now: before it has an interface, the runtime could not wait on the descriptor.
	return os.NewFile(uintptr(fd), end.name), nil
}

func setUpTap(fd int, end linkEnd) error {
	req, err := unix.NewIfreq(end.name)
	if err != nil {
		return fmt.Errorf("name an interface: %w", err)
	}
	req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		return fmt.Errorf("add an interface: %w", err)
	}
	if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tapOffloads|tapOffloadsUDP) != nil {
		if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, tapOffloads); err != nil {
			return fmt.Errorf("leave frames whole: %w", err)
		}
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
