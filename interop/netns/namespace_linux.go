package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// namespace is a network namespace without a name. It lives as long as its file descriptor, and
// processes and sockets in it.
type namespace struct {
	thread *thread
	fd     int
}

// newNamespace makes a namespace with the loopback interface up and IPv6 off.
func newNamespace(t *thread) (namespace, error) {
	ns := namespace{thread: t, fd: -1}
	err := t.do(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		ns.fd, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("hold a network namespace: %w", err)
		}
		return nil
	})
	if err != nil {
		return ns, err
	}
	if err := ns.do(prepareNamespace); err != nil {
		return ns, errors.Join(err, ns.close())
	}
	return ns, nil
}

func prepareNamespace() error {
	for _, scope := range []string{"all", "default"} {
		err := writeSysctl("net/ipv6/conf/"+scope+"/disable_ipv6", "1")
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without the file there is no IPv6
			return err
		}
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	return nil
}

// do runs fn in the namespace, on the grid's thread. Netlink calls and sysctl files in fn are those
// of the namespace.
func (ns namespace) do(fn func() error) error {
	return ns.thread.do(func() error {
		if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter a network namespace: %w", err)
		}
		return fn()
	})
}

// close closes the file descriptor of the namespace.
func (ns namespace) close() error {
	if err := unix.Close(ns.fd); err != nil {
		return fmt.Errorf("close a network namespace: %w", err)
	}
	return nil
}

// writeSysctl sets a kernel parameter of the calling thread's namespace.
func writeSysctl(name, value string) error {
	f, err := os.OpenFile("/proc/sys/"+name, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	_, err = f.WriteString(value)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}
