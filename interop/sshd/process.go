package sshd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/mobgrid/mob/interop/netns"
)

// Process is a process on a host.
type Process struct {
	// Pid is its ID on this machine.
	Pid int
	// Command is its command line.
	Command string
}

// Processes lists what runs on each host in addition to the server: logins and what they started.
// A process that ends meanwhile may be left out.
func (s *Site) Processes() (map[*Host][]Process, error) {
	s.mu.Lock()
	hosts := slices.Clone(s.hosts)
	s.mu.Unlock()
	byNamespace := map[string]*Host{}
	for _, h := range hosts {
		byNamespace[h.pids] = h
	}
	running, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	all := map[*Host][]Process{}
	for _, p := range running {
		namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.PID))
		h := byNamespace[namespace]
		if err != nil || h == nil || p.PID == h.Pid() {
			continue
		}
		if words, err := p.CmdLine(); err == nil && len(words) > 0 { // a zombie has no command
			all[h] = append(all[h], Process{p.PID, strings.TrimSpace(strings.Join(words, " "))})
		}
	}
	return all, nil
}

// Processes lists what runs on the host in addition to the server.
func (h *Host) Processes() ([]Process, error) {
	s := Site{hosts: []*Host{h}}
	all, err := s.Processes()
	return all[h], err
}

// Signal sends a signal to all processes on the host but the server.
func (h *Host) Signal(sig syscall.Signal) error {
	all, err := h.Processes()
	errs := []error{err}
	for _, p := range all {
		if err := syscall.Kill(p.Pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Usage is the resources of all processes of all hosts so far, with the ended ones on
// hosts that still run. Peak is the peak of processes that still run.
func (s *Site) Usage() (sum netns.Usage, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hosts {
		used, failed := h.Usage()
		sum.Add(used)
		err = errors.Join(err, failed)
	}
	return sum, err
}

// Usage returns the resources of one host.
func (h *Host) Usage() (sum netns.Usage, err error) {
	all, err := h.Processes()
	for _, p := range append(all, Process{Pid: h.Pid()}) {
		used, failed := netns.UsageOf(p.Pid)
		if failed == nil {
			sum.Add(used)
		} else if !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, syscall.ESRCH) { // it counts with the process that waited for it
			err = errors.Join(err, failed)
		}
	}
	return sum, err
}
