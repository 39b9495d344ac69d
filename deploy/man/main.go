// Command man writes the manual pages of mob and mobd, and shell completions for their
// arguments, to a directory:
//
//	man1/mob.1 man1/mob-get.1 ...  man8/mobd.8
//	bash/mob bash/mobd  zsh/_mob zsh/_mobd  fish/mob.fish fish/mobd.fish
//
// It is part of `make packages`, and no part of the programs.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/mobgrid/mob/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// sections are the sections of the manual of each program: commands, and daemons.
func sections() map[string]string { return map[string]string{"mob": "1", "mobd": "8"} }

func write(dir string) error {
	for _, root := range cli.Commands() {
		err := errors.Join(writePages(root, sections()[root.Name()], dir), writeCompletions(root, dir))
		if err != nil {
			return fmt.Errorf("%s: %w", root.Name(), err)
		}
	}
	return nil
}

// writePages writes a page for a command and each below it.
func writePages(root *cobra.Command, section, dir string) error {
	dir = filepath.Join(dir, "man"+section)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // which has the date
	return doc.GenManTree(root, &doc.GenManHeader{Section: section, Source: "mob", Manual: "mob", Date: new(time.Time)}, dir)
}

func writeCompletions(root *cobra.Command, dir string) error {
	name := root.Name()
	for path, gen := range map[string]func(string) error{
		"bash/" + name:           func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"zsh/_" + name:           root.GenZshCompletionFile,
		"fish/" + name + ".fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := gen(path); err != nil {
			return err
		}
	}
	return nil
}
