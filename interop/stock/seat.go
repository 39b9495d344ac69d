package stock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// seat is the place of a client on a node: paths, and nothing that changes.
type seat struct {
	// node is where it runs.
	node *netns.Node
	// dir is the client's own, for settings, state and log.
	dir string
	// data has the content, or gets it.
	data string
	// torrent is the path of the torrent file, or a magnet link.
	torrent string
	// scheme is that of the tracker's announce address.
	scheme string
	// mark is a path where there is nothing until the content is whole.
	mark string
}

// port is where a client listens. Nodes have an address each, so all can have the
// same.
const port = 6881

// newSeat makes the folders of a seat below dir. marks is where seats leave their
// marks, under their names.
func newSeat(node *netns.Node, dir, marks, torrent string) (seat, error) {
	name := seatName(node)
	s := seat{
		node:    node,
		dir:     filepath.Join(dir, name),
		torrent: torrent,
		mark:    filepath.Join(marks, name),
	}
	s.data = filepath.Join(s.dir, "data")
	return s, os.MkdirAll(s.data, 0o700)
}

func seatName(n *netns.Node) string { return fmt.Sprintf("%s%d", n.Cluster, n.Index) }

// log is where the client's output goes.
func (s seat) log() string { return filepath.Join(s.dir, "log") }

// command is a client's command, with an environment of its own: a user's settings
// at home would change what is measured, and a proxy would be asked for the
// tracker.
func (s seat) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "LANG=C.UTF-8"}
	return cmd
}

// hook writes a program that makes the seat's mark, for clients that run one when
// they are done, and returns its path.
func (s seat) hook() (string, error) {
	path := filepath.Join(s.dir, "whole")
	return path, os.WriteFile(path, []byte("#!/bin/sh\n: >"+quote(s.mark)+"\n"), 0o700)
}

// link makes a symbolic link, unless there is one.
func link(to, path string) error {
	if err := os.Symlink(to, path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// quote makes one word of s, for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// lastWords is the last line of a log, for errors.
func lastWords(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return "it said nothing"
}
