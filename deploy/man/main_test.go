package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli"
)

// TestPages finds a page of each command, with its flags.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	n := 0
	var check func(cmd *cobra.Command, section string)
	check = func(cmd *cobra.Command, section string) {
		n++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		path := filepath.Join(dir, "man"+section, name+"."+section)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		page := strings.ReplaceAll(string(b), `\-`, "-")
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s does not mention --%s", path, f.Name)
			}
		})
		if !strings.Contains(page, cmd.Short) || cmd.Example != "" && !strings.Contains(page, "EXAMPLE") {
			t.Errorf("%s does not say what the command is for", path)
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
				check(sub, section)
			}
		}
	}
	for _, root := range cli.Commands() {
		check(root, sections()[root.Name()])
	}
	if n < 10 {
		t.Errorf("only %d commands", n)
	}
}

// TestCompletions checks the completions with the installed shells.
func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, root := range cli.Commands() {
		name := root.Name()
		for shell, path := range map[string]string{"bash": "bash/" + name, "zsh": "zsh/_" + name, "fish": "fish/" + name + ".fish"} {
			path = filepath.Join(dir, path)
			b, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(b), "__complete") {
				t.Errorf("%s: %v", path, err)
			}
			if bin, err := exec.LookPath(shell); err == nil {
				if out, err := exec.Command(bin, "-n", path).CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", path, err, out)
				}
			}
		}
	}
}
