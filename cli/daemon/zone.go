package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	_ "time/tzdata" // the container image has no zones
)

// checkZone fails if tz, the value of $TZ, is not a time zone that Go knows. Go would take the
// hours of schedules as UTC.
func checkZone(tz string) error {
	name := strings.TrimPrefix(tz, ":")
	var err error
	if filepath.IsAbs(name) {
		var b []byte
		if b, err = os.ReadFile(name); err == nil {
			_, err = time.LoadLocationFromTZData(name, b)
		}
	} else {
		_, err = time.LoadLocation(name)
	}
	if err != nil {
		return fmt.Errorf("TZ=%q is not a known time zone: give a name such as Europe/Berlin, or UTC", tz)
	}
	return nil
}
