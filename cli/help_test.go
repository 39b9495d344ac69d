package cli

import (
	"testing"
)

func TestHelpHasExamples(t *testing.T) {
	for _, root := range Commands() {
		for _, cmd := range append(root.Commands(), root) {
			if cmd.Long == "" || cmd.Example == "" {
				t.Errorf("%s: no help or no example", cmd.CommandPath())
			}
		}
	}
}
