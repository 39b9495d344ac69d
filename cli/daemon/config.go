package daemon

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
)

// loadConfig sets flags from a TOML file that has their names as keys. Flags that are set already stay. A table is read by
// the function of its key, as go-toml decodes it: a map[string]any, or a list of maps for [[key]]. Any other key is an error.
// Mistakes in the file are usage errors: systemd does not start mobd again then.
func loadConfig(path string, flags *pflag.FlagSet, tables map[string]func(value any) error) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the configuration: %w", err)
	}
	var keys map[string]any
	var syntax *toml.DecodeError
	if err := toml.Unmarshal(b, &keys); errors.As(err, &syntax) {
		row, column := syntax.Position()
		return command.Usagef("%s:%d:%d: %w", path, row, column, err)
	} else if err != nil {
		return command.Usagef("%s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if read := tables[key]; read != nil {
			if err := read(keys[key]); err != nil {
				return command.Usagef("%s: [%s]: %w", path, key, err)
			}
			continue
		}
		f := flags.Lookup(key)
		if f == nil || slices.Contains([]string{"config", "help", "version"}, key) {
			return command.Usagef("%s: unknown key %q", path, key)
		}
		if f.Changed {
			continue
		}
		if err := setFlag(flags, f, keys[key]); err != nil {
			return command.Usagef("%s: %s: %w", path, key, err)
		}
	}
	return nil
}

// setFlag sets a flag to a value of a configuration file. A repeatable flag also takes a list.
func setFlag(flags *pflag.FlagSet, f *pflag.Flag, value any) error {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	} else if f.Value.Type() != "stringArray" {
		return errors.New("must be one value, not a list")
	}
	for _, v := range values {
		if v == "" { // as of an unset variable in a template: it never means the default, such as no network
			return errors.New("must not be empty: give a value, or leave the key out")
		}
		switch v.(type) {
		case string, bool, int64:
		default:
			return fmt.Errorf("must be text, a number, true or false, not %v", v)
		}
		if err := flags.Set(f.Name, fmt.Sprint(v)); err != nil {
			return err
		}
	}
	return nil
}
