package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// checkSeedOptions checks options of mob seed that follow the name of a system, without their dashes:
// how the content is cut and sent.
func checkSeedOptions(options []string) error {
	given := map[string]bool{}
	for _, o := range options {
		name, value, hasValue := strings.Cut(o, "=")
		if err := checkSeedOption(name, value, hasValue); err != nil {
			return err
		}
		given[name] = true
	}
	if given["plan"] && (given["coded"] || given["strategy"]) {
		return errors.New("--plan excludes --coded and --strategy: a transfer is planned or coded")
	}
	return nil
}

func checkSeedOption(name, value string, hasValue bool) error {
	switch name {
	case "":
		return errors.New("an option is empty")
	case "coded":
		if k, err := strconv.Atoi(value); hasValue && (err != nil || proto.CheckCodedK(k) != nil) {
			return fmt.Errorf("--coded=%s: must be a number of blocks from %d to %d", value, proto.MinCodedK, proto.MaxCodedK)
		}
	case "strategy":
		if _, err := proto.ParseStrategy(value); err != nil {
			return fmt.Errorf("--strategy: %w", err)
		}
	case "plan":
		if err := plan.CheckAlgorithm(value); err != nil {
			return fmt.Errorf("--plan: %w", err)
		}
	case "piece-length":
		if n, err := humanize.ParseBytes(value); err != nil || n < proto.MinPieceLength || n > proto.MaxPieceLength || n&(n-1) != 0 {
			return fmt.Errorf("--piece-length %q is not a power of two from 16KiB to 16MiB", value)
		}
	default:
		return fmt.Errorf("unknown flag: --%s", name)
	}
	return nil
}
