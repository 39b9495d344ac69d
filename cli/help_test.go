package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp checks that every command has help and an example, and that the help fits a terminal.
func TestHelp(t *testing.T) {
	const width = 92
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: no help or no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long) {
			if len(line) > width {
				t.Errorf("%s: more than %d columns: %s", cmd.CommandPath(), width, line)
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	for _, root := range Commands() {
		check(root)
	}
}
