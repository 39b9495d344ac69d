package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// loadConfig sets the flags that are not set from a TOML file, in which they have
// the same names. A key that is no flag is an error: it is likely misspelt.
func loadConfig(path string, flags *pflag.FlagSet) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the configuration: %w", err)
	}
	var keys map[string]any
	var broken *toml.DecodeError
	if err := toml.Unmarshal(b, &keys); errors.As(err, &broken) {
		row, column := broken.Position()
		return fmt.Errorf("%s:%d:%d: %w", path, row, column, err)
	} else if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		f := flags.Lookup(key)
		if f == nil || slices.Contains([]string{"config", "help", "version"}, key) {
			return fmt.Errorf("%s: unknown key %q: see `mobd --help` for those there are", path, key)
		}
		if f.Changed {
			continue
		}
		if err := setFlag(flags, f, keys[key]); err != nil {
			return fmt.Errorf("%s: %s: %w", path, key, err)
		}
	}
	return nil
}

// setFlag sets a flag to a value of a file. One that may be given again takes a
// list, too.
func setFlag(flags *pflag.FlagSet, f *pflag.Flag, value any) error {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	} else if f.Value.Type() != "stringArray" {
		return errors.New("one value is wanted, not a list")
	}
	for _, v := range values {
		switch v.(type) {
		case string, bool, int64:
		default:
			return fmt.Errorf("%v is no text", v)
		}
		if err := flags.Set(f.Name, fmt.Sprint(v)); err != nil {
			return err
		}
	}
	return nil
}
