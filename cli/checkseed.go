package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"
)

// checkSeed says what is wrong about options of mob seed that tell how a content is cut
// and sent, without their dashes.
func checkSeed(options []string) error {
	if slices.Contains(options, "") {
		return errors.New("an option is empty")
	}
	args := make([]string, len(options))
	for i, o := range options {
		args[i] = "--" + o
	}
	var f seedFlags
	flags := pflag.NewFlagSet("seed", pflag.ContinueOnError)
	flags.Usage = func() {}
	f.contentFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	_, err := f.request(".")
	return err
}
