package proto

import "fmt"

// checkSize reports a size in bytes that is not from 1 to most.
func checkSize(what string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s of %d bytes, want 1 to %d", what, n, most)
	}
	return nil
}

// checkEach reports a list that is longer than most, and the first element that breaks a limit.
func checkEach[T any](what string, all []T, most int, check func(T) error) error {
	if len(all) > most {
		return fmt.Errorf("%d %s, at most %d", len(all), what, most)
	}
	for _, v := range all {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}
