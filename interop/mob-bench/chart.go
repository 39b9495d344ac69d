package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
)

const chartHelp = `Puts runs of mob-bench grid together that were made one at a time: it reads what they printed
with --json, and prints and draws what one run of all systems in all scenarios would have.

Runs of the same scenario and system count as one with --repeat. All must be of the same
grid and content. Systems are in the order of the files.

Exit status: 0 done; 1 a file cannot be used; 2 usage error.`

const chartExample = `  mob-bench grid --systems mob,aria2 --scenario fast --json >fast.json
  mob-bench grid --systems mob,aria2 --scenario mayhem --json >mayhem.json
  mob-bench chart fast.json mayhem.json --svg scenarios.svg`

func newChart(a *command.App) *cobra.Command {
	var f commonFlags
	return a.Command(command.Spec{
		Use: "chart FILE...", Short: "Draw runs that were made one at a time", Long: chartHelp, Example: chartExample,
		Args: cobra.ArbitraryArgs, Flags: f.addSVG, JSON: true,
		Run: func(_ context.Context, a *command.App, files []string) error {
			if len(files) == 0 {
				return command.Usagef("give at least one file that mob-bench grid --json has written")
			}
			var all bench.Scenarios
			for _, name := range files {
				read, err := readScenarios(name)
				if err != nil {
					return err
				}
				for _, r := range read {
					if err := all.Add(r); err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
				}
			}
			return f.print(a, all)
		},
	})
}

func readScenarios(name string) (bench.Scenarios, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := bench.ReadScenarios(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}
