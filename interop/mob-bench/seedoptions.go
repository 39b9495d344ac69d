package main

import (
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
)

// checkSeedOptions checks options of mob seed that follow the name of a system, without their dashes:
// how the content is cut and sent.
func checkSeedOptions(options []string) error {
	var f command.ContentFlags
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	fl.SetOutput(io.Discard)
	fl.Usage = func() {}
	f.Add(fl)
	args := make([]string, len(options))
	for i, o := range options {
		if o == "" {
			return errors.New("an option is empty")
		}
		args[i] = "--" + o
	}
	if err := fl.Parse(args); err != nil {
		return err
	}
	_, _, err := f.Check(false)
	return err
}
